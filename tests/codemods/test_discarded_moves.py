"""Moves whose result is discarded: which are recorded, and what becomes of the tensors."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, observe

from codemods.tensors._discarded_moves import DiscardedMove

SETUP = f"{DEVICE}loader = DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8)))\nx, y = next(iter(loader))\n"
USE = "x + torch.ones(4, device=device)\n"


def recorded(text):
    moves = observe(f"{SETUP}{text}\n{USE}").of(DiscardedMove)
    return [(move.point.tree.source(move.target), move.loop is not None) for move in moves]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x.to(device)", [("x", False)], id="statement"),
        pytest.param("x.cuda()", [("x", False)], id="cuda"),
        pytest.param("items = [x]\nitems[0].to(device)", [("items[0]", False)], id="item"),
        pytest.param("items = [x]\nfor t in items:\n    t = t.to(device)", [("items", True)], id="loop"),
        pytest.param("for t in (x, y):\n    t.to(device)", [("(x, y)", True)], id="loop-over-names"),
        pytest.param("def f():\n    x.to(device)\nf()\nf()", [("x", False)], id="recorded-once"),
    ],
)
def test_a_discarded_move_is_recorded(text, expected):
    assert recorded(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = x.to(device)", id="assigned"),
        pytest.param("x.to(torch.float64)", id="dtype"),
        pytest.param("x.to('cpu')", id="to-the-cpu"),
        pytest.param("nn.Linear(4, 2).to(device)", id="module"),
        pytest.param("for t in (x, y):\n    t = t.to(device)\n    print(t)", id="read-afterwards"),
        pytest.param("f(x.to(device))", id="argument"),
    ],
)
def test_other_moves_are_not(text):
    assert recorded(text) == []


def test_a_later_mismatch_leads_back_to_the_move():
    observations = observe(f"{SETUP}x.to(device)\n{USE}")

    (move,) = observations.of(DiscardedMove)
    (mismatch,) = observations.mismatches
    (origin,) = mismatch.cpu[0].origins
    assert (origin.kind, origin.site_id) == ("dropped", move.number)
    assert observations.transfers == []
