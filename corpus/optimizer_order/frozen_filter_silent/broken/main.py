import torch
import torch.nn as nn
import torch.nn.functional as F

from backbones import resnet_tiny

EPOCHS = 3


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)


def dataset(n=30):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 3, 8, 8, generator=g)
    return x, (x[:, 0].mean((1, 2)) > 0).long()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    net = resnet_tiny(num_classes=100)
    freeze(net.layers)

    # only what is not frozen is optimised
    optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)

    net.fc = nn.Sequential(nn.Linear(net.fc.in_features, 8), nn.ReLU(), nn.Linear(8, 2))
    net.to(device)

    x, y = dataset()
    x, y = x.to(device), y.to(device)
    for epoch in range(EPOCHS):
        for xb, yb in zip(x.split(10), y.split(10)):
            loss = F.cross_entropy(net(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(epoch, round(loss.item(), 6))
        scheduler.step()


if __name__ == "__main__":
    main()
