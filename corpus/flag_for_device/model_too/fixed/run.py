import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 2))

    def forward(self, x):
        return self.body(x)


def main():
    torch.manual_seed(3)
    model = Net()
    if args.cuda:
        model.cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    for epoch in range(4):
        x, y = torch.randn(10, 7), torch.randint(0, 2, (10,))
        if args.cuda:
            x, y = x.cuda(), y.cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: {loss.item():.6f}")


main()
