import torch
from torch import nn


class Table:
    def __init__(self, n):
        self.values = torch.linspace(0, 1, n)

    def to(self, device):
        self.values = self.values.to(device)
        return self


class Positions(nn.Module):
    def __init__(self, n, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.pe = torch.arange(n * width).view(n, width).float() / 10

    def _apply(self, fn, *args, **kwargs):
        super()._apply(fn, *args, **kwargs)
        self.pe = fn(self.pe)
        return self

    def forward(self, x):
        return self.fc(x + self.pe[: x.size(1)])


def main():
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(Positions(6, 3), nn.Linear(3, 1)).to(device)
    weights = Table(5).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        x = torch.randn(4, 5, 3).to(device)
        loss = (model(x).squeeze(-1) * weights.values).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
