import torch


def of_width(width):
    ramp = [min(i, width - 1 - i) + 1.0 for i in range(width)]

    class Taper(torch.autograd.Function):
        curve = torch.tensor(ramp) / max(ramp)

        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * Taper.curve

    return Taper.apply
