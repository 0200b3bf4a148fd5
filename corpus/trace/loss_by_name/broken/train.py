import ast
import configparser
from pathlib import Path

import torch
from torch import nn


def instantiate(section, **extra):
    """target = package.Class, the rest are its arguments."""
    options = {key: ast.literal_eval(value) for key, value in section.items() if key != "target"}
    root, _, name = section["target"].rpartition(".")
    place = {"nn": nn, "optim": torch.optim}[root]
    options = {key: torch.tensor(value) if isinstance(value, list) else value for key, value in options.items()}
    return getattr(place, name)(**extra, **options)


config = configparser.ConfigParser()
config.read(Path(__file__).with_name("train.ini"))

torch.manual_seed(config.getint("run", "seed"))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

backbone = instantiate(config["backbone"])
model = nn.Sequential(backbone, nn.ReLU(), instantiate(config["head"])).to(device)
criterion = instantiate(config["criterion"])
optimizer = instantiate(config["optimizer"], params=model.parameters())

for step in range(config.getint("run", "steps")):
    x = torch.randn(16, 10)
    y = x[:, :3].argmax(dim=1)
    x, y = x.to(device), y.to(device)
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.5f}")
