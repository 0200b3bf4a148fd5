import torch
from torch import nn


class WideDeep(nn.Module):
    def __init__(self, wide_dim, deep_dim):
        super().__init__()
        self.wide = nn.Embedding(wide_dim, 1)
        self.deeptabular = nn.Sequential(nn.Linear(deep_dim, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, X):
        return self.wide(X["wide"]).sum(1) + self.deeptabular(X["deeptabular"])
