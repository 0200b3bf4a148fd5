import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR

from lib.checkpoint import CheckpointIO, load_checkpoint


def loss_of(model, device, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(32, 3, generator=g) * 4
    y = torch.sin(x).sum(dim=1, keepdim=True)
    return nn.functional.mse_loss(model(x.to(device)), y.to(device))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = ExponentialLR(optimizer, gamma=0.9)
    io = CheckpointIO("out")

    start = 0
    if args.resume:
        start = load_checkpoint(io.latest, model, optimizer, scheduler, device)
    for epoch in range(start, args.epochs):
        for it in range(2):
            loss = loss_of(model, device, seed=10 * epoch + it)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"[{epoch}.{it}] {loss.item():.6f}")
        scheduler.step()
        io.save(epoch=epoch + 1, model=model, optimizer=optimizer, scheduler=scheduler)


if __name__ == "__main__":
    main()
