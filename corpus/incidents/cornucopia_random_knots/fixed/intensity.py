import torch

__all__ = ['MultiGammaTransform', 'SplineUpTransform', 'SequentialTransform']


class Transform(torch.nn.Module):
    """Base of all transforms: `forward` draws the parameters, then applies them."""

    def __init__(self, *, prob=1):
        super().__init__()
        self.prob = prob

    def forward(self, x):
        if self.prob < 1 and torch.rand([]).item() > self.prob:
            return x
        return self.apply_transform(x, self.get_parameters(x))


class SequentialTransform(Transform):
    def __init__(self, transforms):
        super().__init__()
        self.transforms = torch.nn.ModuleList(transforms)

    def forward(self, x):
        for trf in self.transforms:
            x = trf(x)
        return x


class MultiGammaTransform(Transform):
    def __init__(self, low=0.8, high=1.2, prob=1):
        super().__init__(prob=prob)
        self.low, self.high = low, high

    def get_parameters(self, x):
        return torch.rand([len(x), 1, 1]).to(x).mul_(self.high - self.low).add_(self.low)

    def apply_transform(self, x, gamma):
        return x.clamp_min(0).pow(gamma)


class SplineUpTransform(Transform):
    """Piecewise linear change of contrast between random knots."""

    def __init__(self, nk=5, prob=1):
        super().__init__(prob=prob)
        self.nk = nk

    def get_parameters(self, x):
        vmin, vmax = x.min(), x.max()
        steps = torch.arange(self.nk, device=x.device, dtype=x.dtype) / (self.nk - 1)
        knots = torch.rand(self.nk).to(x).sort().values
        return vmin + steps * (vmax - vmin), vmin + knots * (vmax - vmin)

    def apply_transform(self, x, parameters):
        source, target = parameters
        pos = torch.bucketize(x.contiguous(), source[1:-1].contiguous())
        frac = (x - source[pos]) / (source[pos + 1] - source[pos])
        return target[pos] * (1 - frac) + target[pos + 1] * frac
