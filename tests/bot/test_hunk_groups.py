"""Which hunks of a patch belong together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devfix.bot import hunk_groups
from devfix.bot.hunk_groups import group_hunks
from devfix.bot.patch import diff, hunks
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import FileChange, Patch
from devfix.sources import SourceFile

HEAD = "import torch\nfrom torch import nn\n\ndevice = torch.device('cuda')\n"
MODEL = "model = nn.Linear(4, 2)\n"
ADAGRAD = "optimizer = torch.optim.Adagrad(model.parameters())\n"
FILLER = "x = 1\n" * 4
LOSS = "loss = model(torch.randn(8, 4)).sum()\n"
#: One finding and two hunks: the optimizer goes behind the move.
MOVED = (
    HEAD + MODEL + ADAGRAD + FILLER + "model.to(device)\nfor step in range(3):\n"
    "    model(torch.ones(8, 4, device=device)).sum().backward()\n    optimizer.step()\n"
)


@pytest.fixture
def run():
    """The outcome of the engine for some files, and what it would be without some findings."""

    def call(**texts):
        files = [SourceFile(f"{name}.py", text.encode(), text) for name, text in texts.items()]

        def rerun(without):
            return fixpoint.apply(files, Settings(), without=without)

        return rerun(()), rerun

    return call


def test_what_replaces_what():
    old, new = b"1\n2\n3\n4\n", b"1\nx\n3\n4\ny"
    (first, second) = hunks(diff([FileChange("a.py", old, new)]), {"a.py": new})

    assert (first.position, first.lines, second.position, second.lines) == (("a.py", 2), ("x",), ("a.py", 5), ("y",))


def test_repairs_of_two_bugs_can_be_taken_apart(run):
    outcome, rerun = run(train=HEAD + "model = nn.Linear(4, 2).to(device)\n" + LOSS + FILLER + LOSS)

    assert sorted(group_hunks(outcome, rerun)) == [(("train.py", 6),), (("train.py", 11),)]


def test_the_hunks_of_one_repair_belong_together(run):
    outcome, rerun = run(train=MOVED)

    assert list(map(len, group_hunks(outcome, rerun))) == [2]


def test_a_repair_of_two_hunks_and_another_one(run):
    outcome, rerun = run(train=MOVED + FILLER + LOSS)
    found = group_hunks(outcome, rerun)

    assert sorted(map(len, found)) == [1, 2]


def test_neighbours_belong_together(run):
    outcome, rerun = run(train=HEAD + "model = nn.Linear(4, 2).to(device)\n" + LOSS + LOSS)

    assert group_hunks(outcome, rerun) == ((("train.py", 6),),)


def test_what_cannot_be_tried_belongs_together(run, monkeypatch):
    monkeypatch.setattr(hunk_groups, "_MAX_GROUPS", 1)
    outcome, rerun = run(train=HEAD + "model = nn.Linear(4, 2).to(device)\n" + LOSS + FILLER + LOSS)

    assert group_hunks(outcome, rerun) == ((("train.py", 6), ("train.py", 11)),)


def test_repairs_that_hold_only_together_belong_together(run):
    outcome, _ = run(train=HEAD + "model = nn.Linear(4, 2).to(device)\n" + LOSS + FILLER + LOSS)
    assert len(group_hunks(outcome, lambda without: replace(outcome, patch=Patch()))) == 1
