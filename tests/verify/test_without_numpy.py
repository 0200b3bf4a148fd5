"""The recorder reads tensors in an interpreter that has PyTorch and no NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]

#: Without NumPy, ``Tensor.numpy`` raises; what each digest reads is told apart by its numbers.
PROGRAM = """
import sys

sys.modules["numpy"] = None
import warnings

warnings.simplefilter("ignore")
import torch

from devfix.verify.probe.parameters import digest
from devfix.verify.probe.phases import _sample
from devfix.verify.probe.plain import memory

try:
    torch.ones(1).numpy()
    raise SystemExit("this PyTorch has NumPy")
except RuntimeError:
    pass
one, other = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0])
complex_one = torch.tensor([1 + 2j])
assert memory(one) == bytes([0, 0, 128, 63, 0, 0, 0, 64])
assert memory(torch.empty(0)) == b""
assert digest([one]) != digest([other])
assert digest([complex_one.conj()]) == digest([complex_one.conj().resolve_conj()]) != digest([complex_one])
assert _sample(one) == memory(one)
for unreadable in (torch.ones(2, device="meta"), torch.ones(2, 2).t(), torch.ones(4)[::2]):
    try:
        memory(unreadable)
        raise SystemExit("memory of what is not contiguous on the CPU")
    except RuntimeError:
        pass
"""


def test_tensors_are_read_without_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
