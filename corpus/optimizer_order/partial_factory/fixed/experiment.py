from dataclasses import dataclass, field
from functools import partial
from typing import Callable

import torch
from torch import nn


@dataclass
class Config:
    seed: int = 0
    steps: int = 6
    warmup: int = 2
    optimizer: Callable = partial(torch.optim.Adagrad, lr=0.1, initial_accumulator_value=0.1)
    hidden: list = field(default_factory=lambda: [16, 16])
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


def mlp(inputs, hidden, outputs):
    sizes = [inputs, *hidden, outputs]
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers.extend([nn.Linear(a, b), nn.CELU()])
    return nn.Sequential(*layers[:-1])


def energy(pos):
    return (pos[:, None] - pos[:, :, None]).norm(dim=-1).sum((1, 2)).unsqueeze(1)


def train(cfg: Config):
    torch.manual_seed(cfg.seed)
    model = mlp(12, cfg.hidden, 1)

    model.to(cfg.device)
    optimizer = cfg.optimizer(model.parameters())

    # linear warm-up
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min(1.0, (s + 1) / cfg.warmup))

    model.train()
    for step in range(cfg.steps):
        pos = torch.rand(16, 4, 3)
        target = energy(pos)
        loss = nn.functional.huber_loss(model(pos.flatten(1).to(cfg.device)), target.to(cfg.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"{step:02d} loss={loss.item():.5f} lr={optimizer.param_groups[0]['lr']:.3f}")


if __name__ == "__main__":
    train(Config())
