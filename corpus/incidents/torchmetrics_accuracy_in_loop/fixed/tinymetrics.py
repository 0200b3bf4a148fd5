import torch
from torch import Tensor, nn


class Metric(nn.Module):
    """State that is added with `add_state`, is reset to its default, and moves with the module."""

    def __init__(self):
        super().__init__()
        self._defaults = {}

    def add_state(self, name: str, default: Tensor):
        self.register_buffer(name, default.clone(), persistent=False)
        self._defaults[name] = default

    def reset(self):
        for name, default in self._defaults.items():
            setattr(self, name, default.clone().to(getattr(self, name).device))


class MacroRecall(Metric):
    def __init__(self, num_classes: int):
        super().__init__()
        self.num_classes = num_classes
        self.add_state("confmat", torch.zeros(num_classes, num_classes))

    @torch.no_grad()
    def update(self, preds: Tensor, target: Tensor) -> None:
        pairs = target * self.num_classes + preds.argmax(1)
        bins = torch.bincount(pairs, minlength=self.num_classes ** 2)
        self.confmat += bins.view(self.num_classes, self.num_classes)

    def compute(self) -> Tensor:
        return (self.confmat.diagonal() / self.confmat.sum(1).clamp_min(1)).mean()
