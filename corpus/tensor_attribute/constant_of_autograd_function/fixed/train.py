import argparse

import torch
from torch import nn

import taper


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, width), nn.Linear(width, 1)
        self.filter = taper.of_width(width)

    def forward(self, x):
        return self.outer(self.filter(self.inner(x).tanh()))


ap = argparse.ArgumentParser()
ap.add_argument("--width", type=int, default=9)
ap.add_argument("--iters", type=int, default=5)
opt = ap.parse_args()

torch.manual_seed(71)
cuda = torch.cuda.is_available()
net = Net(opt.width)
if cuda:
    net.cuda()
sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
for it in range(opt.iters):
    x = torch.randn(10, 4)
    y = x.norm(dim=1, keepdim=True)
    if cuda:
        x, y = x.cuda(), y.cuda()
    loss = ((net(x) - y) ** 2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print("%d %.6f" % (it, loss.item()))
