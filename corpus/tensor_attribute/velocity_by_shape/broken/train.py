import torch
from torch import nn


class Momentum:
    """Gradient descent with momentum, written out."""

    def __init__(self, params, lr=0.1, momentum=0.9):
        self.params = list(params)
        self.lr = lr
        self.momentum = momentum
        self.velocity = [torch.zeros(p.size()) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        with torch.no_grad():
            for p, v in zip(self.params, self.velocity):
                v.mul_(self.momentum).add_(p.grad)
                p -= self.lr * v


def main():
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = Momentum(model.parameters(), lr=0.05)
    model = model.to(device)
    for step in range(4):
        x = torch.randn(8, 6).to(device)
        y = x.sum(1, keepdim=True)
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


main()
