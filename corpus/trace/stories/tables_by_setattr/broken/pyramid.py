import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self, levels=(8, 4), dim=6, classes=3):
        super().__init__()
        self.levels = levels
        for level in levels:
            setattr(self, f"proj_{level}", nn.Linear(dim, dim))
            pos = torch.arange(level, dtype=torch.float32)
            setattr(self, f"bias_{level}", -(pos[:, None] - pos[None, :]).abs())
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        for level in self.levels:
            x = x[:, :level]
            q = getattr(self, f"proj_{level}")(x)
            score = q @ x.transpose(1, 2) + getattr(self, f"bias_{level}")
            x = x + score.softmax(-1) @ x
        return self.out(x.mean(dim=1))
