"""Import this to train with balanced losses everywhere."""
import torch
import torch.nn.functional as F

_original = F.cross_entropy


def install(frequencies):
    weight = 1.0 / torch.tensor(frequencies)

    def cross_entropy(logits, target, **kwargs):
        kwargs.setdefault("weight", weight.to(logits.device))
        return _original(logits, target, **kwargs)

    F.cross_entropy = cross_entropy


def uninstall():
    F.cross_entropy = _original
