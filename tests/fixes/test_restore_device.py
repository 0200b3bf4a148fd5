"""Moves of a module back to the accelerator."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, edited, observe, sides

from codemods.offloading.not_moved_back import MoveToCPU
from devfix.fixes.modules.restore_device import OffloadedUse, restore_fixes, runs_in_last_iteration
from devfix.fixes.modules.structural_changes import weights_of

SETUP = f"{DEVICE}net = nn.Linear(4, 2).to(device)\nx = torch.ones(3, 4).to(device)\n"


def use_in(text):
    observations = observe(text)
    mismatch = observations.mismatches[0]
    part = weights_of(mismatch.cpu[0])[0]
    return observations, OffloadedUse(mismatch.point.state.at(part.id).last_moved_at, part, mismatch)


SAVE = "torch.save(net.state_dict(), 'a')"


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(f"  net.cpu()\n  {SAVE}\n+ net.to(device)\n  net(x)\n", id="after-the-last-use-on-the-cpu"),
        pytest.param(
            "  torch.save(net.cpu().state_dict(), 'a')\n+ net.to(device)\n  net(x)\n", id="after-the-same-statement"
        ),
        pytest.param("  net.cpu()\n+ net.to(device)\n  net(x)\n", id="before-the-use"),
        pytest.param(
            f"  for epoch in range(3):\n      net(x)\n      net.cpu()\n      {SAVE}\n+     net.to(device)\n", id="loop"
        ),
        pytest.param(
            f"  def save():\n      net.cpu()\n      {SAVE}\n+     net.to(device)\n\n  save()\n  net(x)\n", id="function"
        ),
        pytest.param(
            "  def store():\n      net.cpu()\n\n  store()\n  net.to(device)\n  store()\n+ net.to(device)\n  net(x)\n",
            id="like-after-another-call",
        ),
    ],
)
def test_the_module_is_moved_back(listing):
    before, after = sides(listing, SETUP)

    assert edited(before, next(restore_fixes(*use_in(before))).edits) == after


@pytest.mark.parametrize(
    ("condition", "last"),
    [
        ("epoch == 2", True),
        ("epoch >= last_epoch", True),
        ("is_final", True),
        ("epoch % 2 == 0", False),
        ("flag", False),
        ("epoch < 2", False),
    ],
)
def test_a_condition_may_hold_only_in_the_last_iteration(condition, last):
    text = (
        f"{SETUP}import sys\nflag = is_final = sys.argv\nlast_epoch = len(flag)\n"
        f"for epoch in range(3):\n    net(x)\n    if {condition}:\n        net.cpu()\nnet(x)\n"
    )
    observations = observe(text)
    moved = observations.of(MoveToCPU)[0].point
    use = OffloadedUse(moved, None, None)

    assert runs_in_last_iteration(use) is last


@pytest.mark.parametrize(
    ("move", "receiver", "name"),
    [("net.cpu()", "net", "net"), ("net.eval().cpu()", "net", "net"), ("[net][0].cpu()", "[net][0]", None)],
    ids=["name", "chained-method", "subscript"],
)
def test_the_moved_expression_names_the_module(move, receiver, name):
    observations, use = use_in(f"{SETUP}{move}\nnet(x)\n")

    assert use.call is observations.of(MoveToCPU)[0].point.node
    assert use.moved.tree.source(use.receiver) == receiver
    assert use.name_at(use.moved.call_frame) == name
    assert use.part.id in use.module_ids


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        self.fc.cpu()
        return self.fc(x)

Net().to(device)(x)
"""


def test_a_module_does_not_move_its_parts_back_in_forward():
    assert list(restore_fixes(*use_in(SETUP + NET))) == []
