"""Overhead of provenance: runs with and without it, on the simulator and on the plain CPU.

Training steps with and without provenance alternate in one process, so that what else the machine does falls on both;
the medians are compared.  The losses of both must be equal bit for bit.  Exits with 1 where a ratio is above 3.
Run: ``python benchmarks/provenance.py [pairs]``; ``python benchmarks/provenance.py memory`` compares how the memory of
two processes grows over 2,000 steps, and how long the story of a failure takes; ``timeline [pairs]`` compares runs with
provenance with and without a timeline.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.simulator import convolutional, transformer
from devfix.simulator import Simulator, reported_device
from devfix.verify.probe.provenance import Frames, Provenance, Timeline, describe_failure

ROOT = Path(__file__).resolve().parent.parent
BLOCK = 4  # steps between two looks at the clock
LIMIT = 3.0
STEPS = 2000
MOST_GROWTH_MB = 8.0


class Recurrent(nn.Module):
    """An LSTM cell in a Python loop over 32 letters."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.cell, self.head = nn.Embedding(40, 32), nn.LSTMCell(32, 64), nn.Linear(64, 40)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Return scores for the next letter, one row per text."""
        hidden = torch.zeros(text.shape[0], 64, device=text.device)
        state = hidden, hidden
        for letter in self.letters(text).unbind(1):
            state = self.cell(letter, state)
        return self.head(state[0])


class Small(nn.Module):
    """Arithmetic on small tensors, as in simulations, in nested calls."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = nn.Parameter(torch.rand(10))

    def _step(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x * self.rates + 0.1).clamp(-1, 1) - x.mean(-1, keepdim=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the state after forty small steps."""
        for _ in range(40):
            x = self._step(x)
        return x


class Task(NamedTuple):
    """A network, and a batch of its input and target."""

    name: str
    model: Callable[[], nn.Module]
    batch: Callable[[], tuple[torch.Tensor, torch.Tensor]]


TASKS = (
    Task("conv net", convolutional, lambda: (torch.randn(16, 3, 32, 32), torch.randint(10, (16,)))),
    Task("transformer", transformer, lambda: (torch.randint(100, (16, 32)), torch.randint(100, (16 * 32,)))),
    Task("cell in a loop", Recurrent, lambda: (torch.randint(40, (8, 32)), torch.randint(40, (8,)))),
    Task("small operations", Small, lambda: (torch.randn(4, 10), torch.randint(10, (4,)))),
)


class Training:
    """A network in training on one batch."""

    def __init__(self, task: Task, device: str) -> None:
        torch.manual_seed(0)
        self.model = task.model().to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, foreach=True)
        self.x, self.y = task.batch()
        self.device = device
        self.random = torch.get_rng_state()
        self.losses: list[float] = []

    def block(self, steps: int = BLOCK) -> float:
        """Run a few steps and return their seconds."""
        torch.set_rng_state(self.random)
        start = time.process_time()
        for _ in range(steps):
            x, y = self.x.to(self.device), self.y.to(self.device)
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
        taken = time.process_time() - start
        self.random = torch.get_rng_state()
        return taken


def machine(kind: str) -> AbstractContextManager[Any]:
    return Simulator(shared_random=True) if kind == "simulated" else nullcontext()


def watch(kind: str) -> Provenance:
    frames = Frames(str(ROOT), (str(ROOT / "devfix" / "simulator"),))
    if kind == "CPU":
        return Provenance(frames, lambda each: str(each.device), by_function=True)
    return Provenance(frames, lambda each: str(reported_device(each)))


def ratio(task: Task, kind: str, pairs: int) -> float:
    """Return the ratio of run times with and without provenance."""
    device = "cuda" if kind == "simulated" else "cpu"
    ratios, base = [], []
    with machine(kind):
        alone = Training(task, device)
        watcher = watch(kind)
        with watcher:
            watched = Training(task, device)
        for pair in range(pairs + 1):
            here = alone.block()
            with watcher:
                there = watched.block()
            if pair:  # the first pair warms up
                base.append(here / BLOCK)
                ratios.append(there / here)
    same = alone.losses == watched.losses
    found = statistics.median(ratios)
    print(
        f"{task.name:<17} {kind:<10} {statistics.median(base) * 1000:7.2f} ms a step, with provenance {found:.2f} times"
        f" (limit {LIMIT:.0f}), losses {'equal bit for bit' if same else 'DIFFER'}",
        flush=True,
    )
    return found if same else float("inf")


def timeline(task: Task, kind: str, pairs: int) -> None:
    """Print the ratio of run times with provenance, with and without a timeline."""
    device = "cuda" if kind == "simulated" else "cpu"
    ratios = []
    with machine(kind):
        plain, recording = watch(kind), watch(kind)
        recording.histories.timeline = Timeline()
        with plain:
            alone = Training(task, device)
        with recording:
            recorded = Training(task, device)
        for pair in range(pairs + 1):
            with plain:
                here = alone.block()
            with recording:
                there = recorded.block()
            if pair:  # the first pair warms up
                ratios.append(there / here)
    same = "equal bit for bit" if alone.losses == recorded.losses else "DIFFER"
    print(
        f"{task.name:<17} {kind:<10} with a timeline {statistics.median(ratios):.2f} times, losses {same}", flush=True
    )


def resident_mb() -> float:
    """Return the memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as source:
        return int(source.read().split()[1]) * os.sysconf("SC_PAGESIZE") / (1 << 20)


def grow(task: Task, kind: str, watched: bool) -> float:
    """Return the growth in megabytes of a run of 2,000 steps after its first 200."""
    device = "cuda" if kind == "simulated" else "cpu"
    with machine(kind), watch(kind) if watched else nullcontext() as watcher:
        training = Training(task, device)
        training.block(STEPS // 10)
        before = resident_mb()
        training.block(STEPS)
        grown = resident_mb() - before
        if watcher is not None:
            tell_time(training, watcher)
    return grown


def tell_time(training: Training, watcher: Provenance) -> None:
    """Print the time to describe a failure."""
    try:
        training.model(training.x[:, :0].double().unsqueeze(0))
    except (RuntimeError, IndexError, ValueError) as error:
        start = time.process_time()
        describe_failure(watcher, error)
        print(f"the story takes {time.process_time() - start:.2f} s", file=sys.stderr, flush=True)


def memory() -> int:
    """Print the growth with and without provenance, each in a separate process."""
    kept = True
    for number, task in enumerate(TASKS):
        if task.name in ("conv net", "transformer"):  # 2,000 steps of the others make as many values, sooner
            continue
        grown = []
        for watched in ("0", "1"):
            command = [sys.executable, __file__, "grow", str(number), watched]
            grown.append(float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
        kept &= grown[1] - grown[0] <= MOST_GROWTH_MB
        print(f"{task.name:<17} simulated  {STEPS} steps: {grown[0]:+.1f} MB, with provenance {grown[1]:+.1f} MB")
    return int(not kept)


def main() -> int:
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["memory"]:
        return memory()
    if sys.argv[1:2] == ["timeline"]:
        for task in TASKS:
            for kind in ("simulated", "CPU"):
                timeline(task, kind, int(sys.argv[2]) if len(sys.argv) > 2 else 15)
        return 0
    if sys.argv[1:2] == ["grow"]:
        print(grow(TASKS[int(sys.argv[2])], "simulated", sys.argv[3] == "1"))
        return 0
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    kept = [ratio(task, kind, pairs) <= LIMIT for task in TASKS for kind in ("simulated", "CPU")]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
