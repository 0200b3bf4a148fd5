"""Mixed precision training of a small MLP."""
import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", default=2, type=int)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--amp", action="store_true")
    return p.parse_args()


def build_loader():
    x = torch.randn(60, 9)
    y = (x.sum(1) > 0).long()
    return DataLoader(TensorDataset(x, y), batch_size=15, shuffle=True)


def main(args):
    torch.manual_seed(99)
    loader = build_loader()
    model = nn.Sequential(nn.Linear(9, 32), nn.SiLU(), nn.Linear(32, 2))

    model = model.to(args.device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05, weight_decay=1e-4)
    # one cycle over the whole run
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=args.epochs * len(loader), cycle_momentum=False)

    scaler = torch.amp.GradScaler(enabled=args.amp)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    for epoch in range(args.epochs):
        for step, (x, y) in enumerate(loader):
            x = x.to(args.device, non_blocking=True)
            y = y.to(args.device, non_blocking=True)
            with torch.autocast(device_type=torch.device(args.device).type, enabled=args.amp):
                loss = criterion(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            print(f"epoch {epoch} step {step} loss {loss.item():.5f} lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main(get_args())
