from typing import Any, Dict, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ArcFaceLoss(nn.Module):
    """ArcFace loss from the `paper`_ with possibility to use label smoothing. It contains projection size of
    ``num_features x num_classes`` inside itself.
    """

    criterion_name = "arcface"  # for better logging

    def __init__(self, in_features: int, num_classes: int, m: float = 0.5, s: float = 64, smoothing_epsilon: float = 0):
        super(ArcFaceLoss, self).__init__()
        self.criterion = nn.CrossEntropyLoss()
        self.num_classes = num_classes
        self.smoothing_epsilon = smoothing_epsilon
        self.weight = nn.Parameter(torch.empty(num_classes, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.rescale = s
        self.m = m
        self.last_logs: Dict[str, Any] = {}

    def fc(self, x: Tensor) -> Tensor:
        return F.linear(F.normalize(x, p=2), F.normalize(self.weight, p=2))

    def smooth_labels(self, y: Tensor) -> Tensor:
        y = F.one_hot(y, self.num_classes).float()
        return y * (1 - self.smoothing_epsilon) + self.smoothing_epsilon / self.num_classes

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        cos = self.fc(x)
        self.last_logs["accuracy"] = (cos.argmax(1) == y).float().mean().item()
        sin = torch.sqrt((1.0 - cos**2).clamp(min=1e-7))
        one_hot = F.one_hot(y, self.num_classes).bool()
        shifted = cos * torch.cos(x.new_tensor(self.m)) - sin * torch.sin(x.new_tensor(self.m))
        logits = torch.where(one_hot, shifted, cos) * self.rescale
        return self.criterion(logits, self.smooth_labels(y) if self.smoothing_epsilon else y)
