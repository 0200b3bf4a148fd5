"""Entries of saved dictionaries: which are always tensors with dimensions."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, observe

from codemods.checkpoints._saved_entries import saved_tensors

SETUP = f"{DEVICE}x = torch.ones(3)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("torch.save({'x': x, 'step': 3}, 'a')", {"x"}, id="tensor-and-number"),
        pytest.param("torch.save({'loss': x.sum()}, 'a')", set(), id="without-dimensions"),
        pytest.param("torch.save({'x': x}, 'a')\ntorch.save({'x': 3}, 'b')", set(), id="number-elsewhere"),
        pytest.param("torch.save({'x': x}, 'a')\ntorch.save({'y': 3}, 'b')", {"x"}, id="other-key"),
        pytest.param("torch.save(x, 'a')", set(), id="no-dictionary"),
    ],
)
def test_entries_that_are_tensors_are_known(text, expected):
    assert saved_tensors(observe(f"{SETUP}{text}\n")) == expected
