import sys

import torch
from torch import nn

import stats as statistics


class Normalised(nn.Module):
    def __init__(self, inner, get):
        super().__init__()
        self.inner = inner
        self.get = get

    def forward(self, x):
        stats = self.get()
        return self.inner((x - stats.mean) / stats.std)


def train(path):
    torch.manual_seed(18)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loaded = statistics.Stats(*(part.to(device) for part in statistics.read(path, "train")))
    net = Normalised(nn.Linear(5, 1), get=lambda: loaded).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        x = (torch.randn(9, 5) * 4 + 2).to(device)
        loss = (net(x) - x.median(dim=1, keepdim=True).values).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    if "--prepare" in sys.argv:
        statistics.write("stats.pkl")
    else:
        train("stats.pkl")
