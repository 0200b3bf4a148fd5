import torch
from torch import nn

from optim import HeavyBall


def train(steps=4):
    torch.manual_seed(15)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = nn.Linear(6, 2)
    net = net.to(device)
    optimizer = HeavyBall(net.parameters(), lr=0.02)
    for _ in range(steps):
        x = torch.randn(5, 6, device="cpu").to(device)
        loss = net(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


train()
