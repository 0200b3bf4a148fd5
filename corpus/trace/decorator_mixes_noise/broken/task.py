import torch
from torch import nn

from mixing import mixup


SETTINGS = {"importance": [2.0, 1.0]}


class Task:
    def __init__(self, device):
        vars(self).update({name: torch.tensor(value) for name, value in SETTINGS.items()})
        self.net = nn.Sequential(nn.Linear(5, 15), nn.ReLU(), nn.Linear(15, 2)).to(device)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)

    @mixup(alpha=0.4, seed=3)
    def step(self, x, y, scale=1.0):
        error = (self.net(x) - y).pow(2).mean(dim=0)
        loss = scale * (error * self.importance).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()
