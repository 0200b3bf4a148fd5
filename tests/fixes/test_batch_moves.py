"""Moves of the items of one batch."""

from __future__ import annotations

import pytest
from misplaced_batches import misplaced_items
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.tensors.batch_moves import batch_fixes

LOADER = "loader = DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8, 2)), pin_memory=True)\n"
SETUP = f"{DEVICE}net = nn.Linear(4, 2).to(device)\n{LOADER}"
CUDA = f"{IMPORTS}use_cuda = torch.cuda.is_available()\nnet = nn.Linear(4, 2)\nif use_cuda:\n    net.cuda()\n{LOADER}"


def best(text):
    observations = observe(text)
    return next(batch_fixes(observations, misplaced_items(observations)))


@pytest.mark.parametrize(
    ("listing", "title"),
    [
        pytest.param(
            "  for x, y in loader:\n      y = y.to(device)\n+     x = x.to(device)\n      net(x) - y\n",
            "move `x`",
            id="beside-its-sibling",
        ),
        pytest.param(
            "  for x, y in loader:\n+     x = x.to(device, non_blocking=True)\n      net(x)\n", "move `x`", id="loop"
        ),
        pytest.param(
            "  for x, y in loader:\n+     x = x.to(device, non_blocking=True)\n"
            "+     y = y.to(device, non_blocking=True)\n      net(x) - y\n",
            "move `x`, `y`",
            id="two-items",
        ),
        pytest.param(
            "  for b in loader:\n-     x = b[0]\n+     x = b[0].to(device, non_blocking=True)\n      net(x)\n",
            "move `x`",
            id="binding",
        ),
        pytest.param(
            "  for batch in loader:\n+     batch = [item.to(device, non_blocking=True) for item in batch]\n"
            "      net(batch[0])\n",
            "move `batch`",
            id="container",
        ),
        pytest.param(
            "- net(next(iter(loader))[0])\n+ net(next(iter(loader))[0].to(device, non_blocking=True))\n",
            "move `next(iter(loader))[0]`",
            id="use",
        ),
    ],
)
def test_the_items_are_moved_as_their_author_would(listing, title):
    before, after = sides(listing, SETUP)
    fix = best(before)

    assert (fix.title, edited(before, fix.edits)) == (title, after)


def test_moves_under_one_condition_share_an_if():
    before, after = sides(
        "  for x, y in loader:\n+     if use_cuda:\n+         x = x.cuda()\n+         y = y.cuda()\n      net(x) - y\n",
        CUDA,
    )

    assert edited(before, best(before).edits) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "class Both(nn.Module):\n    def forward(self, x):\n        return net(x[0])\n\nBoth()(next(iter(loader)))",
            id="read-inside-a-module",
        ),
        pytest.param(
            "class Run(nn.Module):\n    def forward(self):\n        for x, y in loader:\n            net(x)\n\nRun()()",
            id="inside-a-module",
        ),
    ],
)
def test_items_are_not_moved_inside_modules(body):
    observations = observe(f"{SETUP}{body}\n")

    assert list(batch_fixes(observations, misplaced_items(observations))) == []


def test_a_loop_that_checks_the_type_of_the_item_is_not_changed_at_its_start():
    before = f"{SETUP}for x, y in loader:\n    if isinstance(x, list):\n        x = x[0]\n    net(x)\n"
    observations = observe(before)
    texts = [edited(before, fix.edits) for fix in batch_fixes(observations, misplaced_items(observations))]

    assert texts
    assert not any("loader:\n    x = x.to" in text for text in texts)


@pytest.mark.parametrize("others", ["words", "'a text'", "['a', 'text']"])
def test_a_name_that_may_hold_a_text_or_a_sequence_is_not_moved(others):
    run = "def run(x):\n    return net(encode(x) if isinstance(x, (str, list)) else x)\n"
    text = f"{SETUP}words = ['a', 'text']\n{run}for x in (torch.ones(3, 4), {others}):\n    run(x)\n"
    observations = observe(text)
    titles = [fix.title for fix in batch_fixes(observations, misplaced_items(observations))]

    assert titles == []
