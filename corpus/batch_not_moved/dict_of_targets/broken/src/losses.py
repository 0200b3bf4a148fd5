import torch
from torch import nn
from torch.nn import functional as F


class MultiTaskLoss(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights
        self.log_var = nn.ParameterDict({k: nn.Parameter(torch.zeros(())) for k in weights})

    def forward(self, out, targets):
        parts = {
            "age": F.smooth_l1_loss(out["age"], targets["age"]),
            "smile": F.cross_entropy(out["smile"], targets["smile"]),
        }
        total = 0.0
        for k, v in parts.items():
            total = total + self.weights[k] * (torch.exp(-self.log_var[k]) * v + self.log_var[k])
        return total, {k: v.item() for k, v in parts.items()}
