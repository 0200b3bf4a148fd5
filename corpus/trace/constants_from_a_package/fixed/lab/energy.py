import torch.nn as nn


class Interval(nn.Module):
    def __init__(self, metric, width):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 4))
        vars(self).update(metric=metric)

    def forward(self, x):
        v = self.field(x)
        return ((v @ self.metric) * v).sum(dim=-1)
