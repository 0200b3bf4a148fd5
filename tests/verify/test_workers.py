"""Data loaders with workers: batches are made in one process, but a forked worker cannot use the accelerator."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from devfix.verify import run

from .scripts import FIXED, project

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.randn(16, 4)

"""
TRAIN = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    loss = model(batch.to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MOVING_DATASET = """
class Rows(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return x[index].to(device)
"""
MOVING_STREAM = """
class Rows(IterableDataset):
    def __iter__(self):
        for row in x:
            yield row.to(device)
"""
ON_DEVICE = """
class Rows(Dataset):
    def __init__(self):
        self.x = x.to(device)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return self.x[index]
"""
REINITIALIZED = "RuntimeError: Cannot re-initialize CUDA in forked subprocess."

WRONG = {
    "__getitem__ moves to the device": (
        MOVING_DATASET + "loader = DataLoader(Rows(), 4, num_workers=2)",
        REINITIALIZED,
    ),
    "__iter__ moves to the device": (MOVING_STREAM + "loader = DataLoader(Rows(), 4, num_workers=2)", REINITIALIZED),
    "collate_fn moves to the device": (
        "loader = DataLoader(x, 4, num_workers=2, collate_fn=lambda rows: torch.stack(rows).to(device))",
        REINITIALIZED,
    ),
    "the dataset is on the device": (
        ON_DEVICE + "loader = DataLoader(Rows(), 4, num_workers=2)",
        "Error: CUDA error: initialization error",
    ),
}
RIGHT = {
    "CPU data": "loader = DataLoader(x, 4, num_workers=2, pin_memory=device.type == 'cuda')",
    "no workers": MOVING_DATASET + "loader = DataLoader(Rows(), 4)",
    "spawned workers": MOVING_DATASET
    + "loader = DataLoader(Rows(), 4, num_workers=2, multiprocessing_context='spawn')",
    "a start method for all": MOVING_DATASET
    + "torch.multiprocessing.set_start_method('spawn')\nloader = DataLoader(Rows(), 4, num_workers=2)",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", WRONG)
def test_a_forked_worker_cannot_use_the_accelerator(case: str, tmp_path: Path) -> None:
    source, message = WRONG[case]
    folder = project(tmp_path, HEAD + source + TRAIN)

    assert run("train.py", [], "cpu", folder).ok
    assert message in run("train.py", [], "sim", folder).outcome
    assert run("train.py", [], "unchecked", folder).ok


@pytest.mark.parametrize("case", RIGHT)
def test_workers_that_do_not_need_the_parents_accelerator_work(case: str, tmp_path: Path) -> None:
    folder = project(tmp_path, HEAD + RIGHT[case] + TRAIN)

    found = run("train.py", [], "sim", folder)

    assert (found.outcome, found.unsupported) == ("completed", ())
    assert found.losses == run("train.py", [], "cpu", folder).losses


def test_workers_of_the_training_script_work(tmp_path: Path) -> None:
    assert "num_workers=2" in FIXED
    assert run("train.py", [], "sim", project(tmp_path, FIXED)).ok
