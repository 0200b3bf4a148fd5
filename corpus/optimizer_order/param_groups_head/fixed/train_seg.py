import click_free_cli as cli
import torch
import torch.nn as nn
import torch.nn.functional as F


class Seg(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.decoder = nn.Conv2d(8, classes, 1)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def squares(n, gen):
    x = torch.rand(n, 1, 8, 8, generator=gen)
    y = (x[:, 0] > 0.5).long() + (x[:, 0] > 0.8).long()
    return x, y


@cli.command
def main(epochs: int = 2, lr: float = 0.05, seed: int = 4):
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Seg(classes=21)

    # our masks have background, cell and border
    model.decoder = nn.Conv2d(8, 3, 1)
    model = model.to(device)
    optimizer = torch.optim.SGD(
        [
            {"params": model.encoder.parameters(), "lr": lr * 0.1},
            {"params": model.decoder.parameters()},
        ],
        lr=lr,
        momentum=0.9,
    )

    gen = torch.Generator().manual_seed(seed)
    for epoch in range(epochs):
        for _ in range(3):
            x, y = squares(4, gen)
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("epoch", epoch, "loss", f"{loss.item():.6f}")


if __name__ == "__main__":
    main()
