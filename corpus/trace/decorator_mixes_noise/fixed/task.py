import torch
from torch import nn

from mixing import mixup


class Task:
    def __init__(self, device):
        self.net = nn.Sequential(nn.Linear(5, 15), nn.ReLU(), nn.Linear(15, 2)).to(device)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)

    @mixup(alpha=0.4, seed=3)
    def step(self, x, y, scale=1.0):
        loss = scale * nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()
