"""Forecast a series; a run that is resumed reads the scales of its columns from the checkpoint."""

import argparse
import os

import torch
from torch import nn

FILE = "forecast.pt"


class Forecaster(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.cell = nn.GRU(columns, 12, batch_first=True)
        self.out = nn.Linear(12, columns)

    def forward(self, series):
        return self.out(self.cell(series)[0])


def pass_over(model, optimizer, windows, low, high, device):
    total = 0.0
    for window in windows.split(8):
        window = window.to(device)
        scaled = (window - low) / (high - low)
        loss = nn.functional.mse_loss(model(scaled[:, :-1]), scaled[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--passes", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    windows = torch.rand(32, 7, 3) * torch.tensor([1.0, 5.0, 20.0])
    model = Forecaster(3).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    first = 0
    if args.resume and os.path.exists(FILE):
        kept = torch.load(FILE, map_location="cpu")
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        low, high, first = kept["low"], kept["high"], kept["passes"]
    else:
        low = windows.amin(dim=(0, 1)).to(device)
        high = windows.amax(dim=(0, 1)).to(device)
    for number in range(first, first + args.passes):
        print(number, pass_over(model, optimizer, windows, low, high, device))
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**states, "low": low, "high": high, "passes": first + args.passes}, FILE)


if __name__ == "__main__":
    main()
