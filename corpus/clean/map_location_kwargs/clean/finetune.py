import argparse
import os

import torch
import torch.nn.functional as F
from torch import nn


def load_any(path, **kwargs):
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    return torch.load(path, **kwargs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weights", nargs="?")
    parser.add_argument("--export")
    args = parser.parse_args()
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options = {"map_location": "cpu", "weights_only": True}
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
    if args.weights:
        model.load_state_dict(load_any(args.weights, **options))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        x = torch.randn(10, 5)
        loss = F.cross_entropy(model(x.to(device)), (x[:, 0] > 0).long().to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    if args.export:
        torch.save(model.state_dict(), args.export)


if __name__ == "__main__":
    main()
