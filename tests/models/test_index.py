"""The table of what PyTorch does: every row has its page, and every name exists."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest

from devfix.models.names import MANAGED
from devfix.models.index import TABLE, model_of
from devfix.models.names import TENSOR_METHODS

NAMES = [(row, row.prefix + name) for row in TABLE for name in row.names.split()]
OF_TORCH = sorted({name for _, name in NAMES if name.startswith("torch.") and not name.endswith("*")})
# names of other versions: scripts use them, and this torch does not have them
ELSEWHERE = {
    "torch.accelerator.current_device_idx",
    "torch.hpu.is_available",
    "torch.npu.is_available",
    "torch.mps.is_available",
    "torch.nn.NLLLoss2d",
    "torch.nn.CTCLoss.__call__",
}


def test_every_row_says_where_it_is_from():
    assert all(row.link.startswith("https://") for row in TABLE)


def test_no_name_stands_in_two_rows():
    counts = Counter(name for _, name in NAMES)

    assert [name for name, count in counts.items() if count > 1] == []


def test_the_first_row_that_fits_counts():
    assert model_of("torch.nn.Linear") == "module"
    assert model_of("torch.nn.ReLU") == "weightless"
    assert model_of("torch.optim.Adagrad") == "optimizer-eager"
    assert model_of("torch.optim.AdamW") == "optimizer"
    assert model_of("torch.optim.lr_scheduler.StepLR") == "scheduler"
    assert model_of("somewhere.else") == ""


@pytest.mark.parametrize("name", [name for name in OF_TORCH if name not in ELSEWHERE])
def test_a_name_of_torch_exists_in_torch(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            value = getattr(value, part)
        return
    pytest.fail(name)


def test_frameworks_that_place_things_are_whole_packages_or_names():
    assert all(name.endswith(".") or name[0].islower() for name in MANAGED)


def test_tensor_methods_exist():
    import torch

    assert [name for name in TENSOR_METHODS if not hasattr(torch.Tensor, name)] == []
