import torch
from slowsteps import LookBehind
from torch import nn


def main():
    torch.manual_seed(23)
    use_cuda = torch.cuda.is_available()
    net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
    if use_cuda:
        net = net.cuda()
    optimizer = LookBehind(net.parameters(), lr=0.05)
    for step in range(5):
        x = torch.randn(9, 4)
        if use_cuda:
            x = x.cuda()
        loss = (net(x) - x.sum(1, keepdim=True).sin()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
