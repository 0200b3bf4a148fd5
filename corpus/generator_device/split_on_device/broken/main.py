import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split


def loaders(config):
    data = TensorDataset(torch.arange(40.0).view(20, 2) / 40, torch.arange(20) % 3)
    seeded = torch.Generator(device=config["device"])
    seeded.manual_seed(config["seed"])
    train, val = random_split(data, [15, 5], generator=seeded)
    return DataLoader(train, batch_size=5), DataLoader(val, batch_size=5)


def run(config):
    torch.manual_seed(config["seed"])
    train, val = loaders(config)
    net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3)).to(config["device"])
    opt = optim.Adam(net.parameters(), lr=0.02)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(2):
        for x, y in train:
            x, y = x.to(config["device"]), y.to(config["device"])
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
            print(f"{epoch} train {loss.item():.5f}")
        with torch.no_grad():
            for x, y in val:
                x, y = x.to(config["device"]), y.to(config["device"])
                print(f"{epoch} val {loss_fn(net(x), y).item():.5f}")


if __name__ == "__main__":
    run({"device": "cuda" if torch.cuda.is_available() else "cpu", "seed": 42})
