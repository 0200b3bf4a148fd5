"""Overhead of the simulator over the plain CPU: a training step of a small transformer and of a convolutional network.

Steps on the CPU and on the simulated device alternate in one process, so that what else the machine does falls on both;
the medians are compared.  The losses of both must be equal bit for bit.  Exits with 1 where a ratio is above its limit.
Run: ``python benchmarks/simulator.py [pairs]``.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from devfix.simulator import Simulator

BLOCK = 8  # steps between two looks at the clock


class Task(NamedTuple):
    """A network, a batch of inputs and targets, and the allowed ratio to the plain CPU run."""

    name: str
    model: Callable[[], nn.Module]
    batch: Callable[[], tuple[torch.Tensor, torch.Tensor]]
    limit: float


def transformer() -> nn.Module:
    """Two layers with d=64, on tokens."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
    body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return nn.Sequential(nn.Embedding(100, 64), body, nn.Linear(64, 100), nn.Flatten(0, 1))


def convolutional() -> nn.Module:
    """Three convolutions with batch norm, on 32×32 images."""
    layers: list[nn.Module] = []
    for width, next_width in ((3, 32), (32, 64), (64, 64)):
        convolution = nn.Conv2d(width, next_width, 3, padding=1)
        layers += [convolution, nn.BatchNorm2d(next_width), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 16, 10))


TASKS = (
    Task(
        "transformer, d=64",
        transformer,
        lambda: (torch.randint(100, (16, 32)), torch.randint(100, (16 * 32,))),
        3.0,
    ),
    Task(
        "conv net, 64 images of 32×32",
        convolutional,
        lambda: (torch.randn(64, 3, 32, 32), torch.randint(10, (64,))),
        1.3,
    ),
)


class Training:
    """A network in training on one batch."""

    def __init__(self, task: Task, device: str) -> None:
        torch.manual_seed(0)
        self.model = task.model().to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, foreach=True)
        self.x, self.y = (part.to(device) for part in task.batch())
        self.random = torch.get_rng_state()
        self.losses: list[float] = []

    def block(self) -> float:
        """Run a few steps and return their seconds."""
        torch.set_rng_state(self.random)
        start = time.perf_counter()
        for _ in range(BLOCK):
            loss = nn.functional.cross_entropy(self.model(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
        taken = time.perf_counter() - start
        self.random = torch.get_rng_state()
        return taken


def ratio(task: Task, pairs: int) -> float:
    """Return the ratio of the simulated run's time to the plain run's."""
    plain = Training(task, "cpu")
    machine = Simulator(shared_random=True)
    with machine:
        simulated = Training(task, "cuda")
    ratios, base = [], []
    for pair in range(pairs + 1):
        here = plain.block()
        with machine:
            there = simulated.block()
        if pair:  # the first pair warms up
            base.append(here / BLOCK)
            ratios.append(there / here)
    same = plain.losses == simulated.losses
    found = statistics.median(ratios)
    print(
        f"{task.name:<30} {statistics.median(base) * 1000:7.2f} ms a step, simulated {found:.2f} times (limit "
        f"{task.limit}), losses {'equal bit for bit' if same else 'DIFFER'}"
    )
    return found if same else float("inf")


def main() -> int:
    torch.set_num_threads(1)
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    kept = [ratio(task, pairs) <= task.limit for task in TASKS]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
