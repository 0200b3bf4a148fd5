import torch
import torch.nn as nn

WEIGHTS = "weights.pth"


def build():
    return nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))


def data(seed, n=45):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    return x, (x[:, :3] + 0.5 * torch.randn(n, 3, generator=g)).argmax(1)
