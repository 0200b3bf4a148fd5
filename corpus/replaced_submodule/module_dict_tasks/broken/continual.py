import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadNet(nn.Module):
    def __init__(self, in_dim, hidden):
        super().__init__()
        self.hidden = hidden
        self.shared = nn.Sequential(nn.Linear(in_dim, hidden), nn.ReLU())
        self.heads = nn.ModuleDict()

    def forward(self, x, task):
        return self.heads[task](self.shared(x))


def make_task(name, n_classes, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(24, 9, generator=g)
    w = torch.randn(9, n_classes, generator=g)
    return name, n_classes, x, (x @ w).argmax(1)


def train_on_task(net, name, x, y, device, steps=3):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = x.to(device), y.to(device)
    for step in range(steps):
        loss = F.cross_entropy(net(x, name), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(name, step, round(loss.item(), 6))


def main():
    torch.manual_seed(13)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = MultiHeadNet(9, 14).to(device)
    tasks = [make_task("digits", 4, 1), make_task("letters", 6, 2), make_task("shapes", 2, 3)]
    for name, n_classes, x, y in tasks:
        net.heads[name] = nn.Linear(net.hidden, n_classes)
        train_on_task(net, name, x, y, device)


if __name__ == "__main__":
    main()
