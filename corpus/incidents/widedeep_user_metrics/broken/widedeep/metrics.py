import torch


class Metric(torch.nn.Module):
    """A metric with states that are added up over an epoch."""

    def __init__(self):
        super().__init__()
        self._defaults = {}

    def add_state(self, name, default):
        self.register_buffer(name, default.clone(), persistent=False)
        self._defaults[name] = default

    def reset(self):
        for name, default in self._defaults.items():
            getattr(self, name).copy_(default)


class BinaryFBeta(Metric):
    def __init__(self, beta=1):
        super().__init__()
        self.beta2 = beta**2
        self.add_state("hits", torch.zeros(3))

    def forward(self, y_pred, y_true):
        y_pred = (y_pred > 0.5).float()
        self.hits += torch.stack(((y_pred * y_true).sum(), y_pred.sum(), y_true.sum()))
        return (1 + self.beta2) * self.hits[0] / (self.beta2 * self.hits[2] + self.hits[1] + 1e-8)


class MultipleMetrics:
    def __init__(self, metrics, prefix=""):
        self._metrics = metrics
        self.prefix = prefix

    def reset(self):
        for metric in self._metrics:
            metric.reset()

    def __call__(self, y_pred, y_true):
        return {self.prefix + type(metric).__name__: metric(y_pred, y_true).item() for metric in self._metrics}
