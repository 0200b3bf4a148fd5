"""Chains: what fails next when the first failure is repaired belongs to the same bug."""

from __future__ import annotations

import pytest
from engine_programs import DEVICE, IMPORTS, settings, texts, told

from devfix.engine.fixpoint import apply
from devfix.engine.outcome import Resolutions
from devfix.model import Status

BEAM = f"""\
{IMPORTS}

class Search(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.offset = torch.arange(rows).view(-1, 1)

    def forward(self, x):
        scores = torch.zeros(3, 4)
        scores.index_fill_(0, torch.tensor([1, 2]), -1.0)
        for _ in range(3):
            scores += self.net(x)
            best, index = scores.topk(2, dim=1)
            index = index + self.offset
        return best, index


{DEVICE}model = Search(3).to(device)
print(model(torch.rand(3, 4).to(device)))
"""


def test_all_links_of_a_bug_are_repaired(write):
    """A moved value meets what is on the CPU before the first failure, and again behind it."""
    new = texts(apply(write(train=BEAM), settings()))["train.py"]

    assert "scores = torch.zeros(3, 4, device=" in new
    assert "index_fill_(0, torch.tensor([1, 2], device=" in new or "torch.tensor([1, 2]).to(" in new
    assert "self.offset = torch.arange(rows).view(-1, 1)\n" not in new


def test_nothing_is_left_to_report_of_a_chain(write):
    outcome = apply(write(train=BEAM), settings())

    assert {status for _, _, status in told(outcome)} == {Status.FIXED}


# the table that a longer input brings replaces the one that the constructor makes
GROWN = f"""\
{IMPORTS}

def table(rows):
    steps = torch.arange(rows).float()
    return torch.polar(torch.ones_like(steps), steps)


def rotate(x, rope):
    cos, sin = rope.real, rope.imag
    return x * cos + x * sin


class Attention(nn.Module):
    def __init__(self, rows=8):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.rope = table(rows)

    def forward(self, x: torch.Tensor):
        if x.size(0) > self.rope.size(0):
            self.rope = %s
        rope = self.rope[: x.size(0)]
        return rotate(self.net(x), rope)
"""


@pytest.fixture
def first_fixes(monkeypatch):
    """Only the best fix of a finding is tried."""
    usable = Resolutions.usable
    monkeypatch.setattr(Resolutions, "usable", lambda self, finding: usable(self, finding)[:1])


def test_the_table_that_a_method_replaces_is_repaired_with_the_first_one(write, first_fixes):
    new = texts(apply(write(train=GROWN % "table(x.size(0))"), settings()))["train.py"]

    assert 'self.register_buffer("rope", table(rows), persistent=False)' in new
    assert "self.rope = table(x.size(0)).to(" in new


def test_a_link_without_a_fix_is_told_of(write, first_fixes):
    """A comment suppresses the second link; the first one stays repaired, because the same operation fails."""
    text = GROWN % "torch.ones(x.size(0), dtype=torch.cfloat)  # devfix: ignore"
    outcome = apply(write(train=text), settings())

    fixed = [item for item in outcome.resolutions if item.status is Status.FIXED]
    assert [item.finding.code for item in fixed] == ["DEV202"]
    assert any("more link" in note for note in fixed[0].finding.notes)


# a method keeps what it computes; the state that it is given may be None
KEPT = f"""\
{IMPORTS}

class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.register_buffer("table", torch.zeros(3))

    def forward(self, x, state=None):
        self.table = torch.ones(3)
        state = x if state is None else state
        return self.net(state) * self.table


{DEVICE}cell = Cell().to(device)
state = None
for _ in range(2):
    state = cell(torch.rand(4, 3).to(device), state)
"""


def test_an_edit_is_made_once(write):
    """The value is moved to the device of a tensor that is always there, and not again."""
    new = texts(apply(write(train=KEPT), settings())).get("train.py", KEPT)

    assert new.count(".to(") <= KEPT.count(".to(") + 1
    assert "state.device" not in new
