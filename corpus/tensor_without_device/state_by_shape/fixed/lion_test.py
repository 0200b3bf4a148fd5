import torch
from torch import nn

from lion import Lion


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
    optimizer = Lion(net.parameters(), lr=0.01)
    for step in range(4):
        x = torch.randn(10, 4)
        loss = (net(x.to(device)) - x.sum(1, keepdim=True).to(device)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, float(loss))


if __name__ == "__main__":
    main()
