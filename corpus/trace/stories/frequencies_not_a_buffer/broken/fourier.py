import torch
from torch import nn


class Fourier(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.freqs = torch.arange(1, n + 1).float()
        self.lin = nn.Linear(2 * n, 1)

    def forward(self, t):
        a = t * self.freqs
        return self.lin(torch.cat([a.sin(), a.cos()], dim=1))
