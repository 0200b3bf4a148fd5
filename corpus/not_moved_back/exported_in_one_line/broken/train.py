import os
import tempfile

import torch
from export import export_weights
from torch import nn


def get_device():
    return torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def run(cfg):
    torch.manual_seed(cfg["seed"])
    device = get_device()
    encoder = nn.GRU(4, cfg["hidden"], batch_first=True).to(device)
    head = nn.Linear(cfg["hidden"], 3).to(device)
    params = list(encoder.parameters()) + list(head.parameters())
    optimizer = torch.optim.SGD(params, lr=0.05)
    for step in range(cfg["steps"]):
        x = torch.randn(6, 7, 4).to(device)
        y = torch.randint(0, 3, (6,)).to(device)
        _, hidden = encoder(x)
        loss = nn.functional.cross_entropy(head(hidden[-1]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.5f}")
        if step % 2 == 0:
            export_weights(encoder, os.path.join(cfg["out"], "encoder.pt"))


if __name__ == "__main__":
    run({"seed": 5, "hidden": 8, "steps": 4, "out": tempfile.mkdtemp()})
