import torch
from torch import nn


def build():
    net = nn.Linear(4, 3)
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5]))
    if torch.cuda.is_available():
        net.cuda
        criterion.cuda
    return net, criterion


def main():
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net, criterion = build()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for step in range(4):
        x = torch.randn(8, 4).to(device)
        y = torch.randint(0, 3, (8,)).to(device)
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
