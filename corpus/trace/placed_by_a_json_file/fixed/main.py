import json
import os

import torch
from torch import nn, optim

HERE = os.path.dirname(os.path.abspath(__file__))


class Net(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.encoder = nn.Linear(6, d)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 3)

    def forward(self, x):
        h = self.encoder(x).relu()
        return self.head(self.norm(h))


def resolve(place):
    if place == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(place)


def main():
    with open(os.path.join(HERE, "placement.json")) as f:
        placement = json.load(f)
    torch.manual_seed(0)
    net = Net()
    for part, place in placement["parts"].items():
        net.get_submodule(part).to(resolve(place))
    device = resolve(placement["data"])
    net.to(device)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for it in range(5):
        x = torch.randn(10, 6, device="cpu").to(device)
        y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{it}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
