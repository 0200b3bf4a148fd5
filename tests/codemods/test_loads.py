"""DEV811: checkpoints of a program that requires CUDA are loaded to the CPU on machines without it."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

PROGRAM = """\
import torch

model = torch.nn.Linear(4, 2){move}
model.load_state_dict({load})
"""
CHOICE = 'map_location=None if torch.cuda.is_available() else "cpu"'


def loaded(load, move=".cuda()"):
    """Return the argument of ``load_state_dict`` after the port."""
    text = PROGRAM.format(load=load, move=move)
    files = [SourceFile("train.py", text.encode(), text)]
    changes = fixpoint.apply(files, Settings(select=("DEV811",))).patch.files
    after = changes[0].new.decode() if changes else text
    return after.split("load_state_dict(")[1].rstrip()[:-1]


def test_a_checkpoint_is_loaded_to_where_it_was_saved_only_with_cuda():
    assert loaded('torch.load("m.pt")') == f'torch.load("m.pt", {CHOICE})'


def test_other_arguments_stay_before_it():
    assert loaded('torch.load("m.pt", weights_only=True)') == f'torch.load("m.pt", weights_only=True, {CHOICE})'


@pytest.mark.parametrize(
    "load",
    [
        pytest.param('torch.load("m.pt", "cpu")', id="positional"),
        pytest.param('torch.load("m.pt", map_location="cpu")', id="by-keyword"),
        pytest.param('torch.load("m.pt", **options)', id="it-may-be-in-a-mapping"),
        pytest.param('torch.load(*["m.pt"])', id="it-may-be-in-a-list"),
        pytest.param('torch.load(\n    "m.pt"\n)', id="several-lines"),
        pytest.param('torch.load("m.pt",)', id="comma-at-the-end"),
        pytest.param('pickle.load("m.pt")', id="another-function"),
    ],
)
def test_other_calls_stay(load):
    assert loaded(load) == load


def test_a_program_that_does_not_require_cuda_stays():
    assert loaded('torch.load("m.pt")', move="") == 'torch.load("m.pt")'
