import torch
from torch import nn


class Normalize(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mean = torch.zeros(features)
        self.std = torch.ones(features)

    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)

    def forward(self, x):
        return (x - self.mean) / self.std


class Forecaster(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.normalize = Normalize(4)
        self.body = nn.Sequential(nn.Linear(4, width), nn.ELU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.body(self.normalize(x)).squeeze(-1)
