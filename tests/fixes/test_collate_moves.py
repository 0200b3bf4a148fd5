"""Moves inside a dataset or ``collate_fn`` that are moved to the loops over the loaders."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, edited, observe, sides

from devfix.fixes.tensors.collate_moves import move_batches_in_loops

PAIRS = """\
  class Pairs(Dataset):
      def __len__(self):
          return 8

      def __getitem__(self, index):
          x, y = torch.ones(4), torch.ones(2)
{item}
  loader = DataLoader(Pairs(), {options})
"""
LOOP = "  for {target} in {iterable}:\n{body}      print({target})\n"


def planned(text):
    observations = observe(text)
    access = next(iter(observations.host_accesses.values()))
    return access, move_batches_in_loops(observations, access)


def program(item, target, body="", options="pin_memory=True", iterable="loader"):
    listing = PAIRS.format(item=item, options=options) + LOOP.format(target=target, body=body, iterable=iterable)
    return sides(listing, DEVICE)


BOTH = "-         return x.to(device), y.to(device)\n+         return x, y\n"
MOVES = "+     x, y = x.to(device), y.to(device)\n"


@pytest.mark.parametrize(
    ("item", "target", "body"),
    [
        pytest.param(BOTH, "x, y", MOVES, id="tuple"),
        pytest.param(
            "-         return x.to(device), y\n+         return x, y\n",
            "a, b",
            "+     a = a.to(device)\n",
            id="one-of-two",
        ),
        pytest.param("-         return x.cuda()\n+         return x\n", "x", "+     x = x.to(device)\n", id="tensor"),
        pytest.param(
            '-         return {"a": x.to(device), "b": y.to(device)}\n+         return {"a": x, "b": y}\n',
            "batch",
            "+     batch = {key: value.to(device) for key, value in batch.items()}\n",
            id="dictionary",
        ),
        pytest.param(
            '-         return {"a": x.to(device), "b": y}\n+         return {"a": x, "b": y}\n',
            "batch",
            '+     batch["a"] = batch["a"].to(device)\n',
            id="one-entry",
        ),
    ],
)
@pytest.mark.parametrize("options", ["pin_memory=True", "num_workers=2"])
def test_the_batches_are_moved_in_the_loop(item, target, body, options):
    before, after = program(item, target, body, options)
    access, edits = planned(before)

    assert access.kind in ("pinned", "workers")
    assert edited(before, edits) == after


def test_the_last_target_of_an_enumeration_is_the_batch():
    before, after = program(BOTH, "i, (x, y)", MOVES, iterable="enumerate(loader)")

    assert edited(before, planned(before)[1]) == after


@pytest.mark.parametrize(
    ("item", "target", "iterable"),
    [
        pytest.param("          return x.to(device, torch.half), y\n", "x, y", "loader", id="with-a-dtype"),
        pytest.param("          return torch.ones(4, device=device), y\n", "x, y", "loader", id="created-there"),
        pytest.param("          return x.to(device), y\n", "batch", "loader", id="not-unpacked"),
        pytest.param("          return x.to(device), y\n", "x, y", "[1]", id="no-loop"),
    ],
)
def test_other_forms_have_no_edit(item, target, iterable):
    before, _ = program(item, target, iterable=iterable)
    if iterable == "[1]":
        before = before.replace("for x, y in [1]:\n    print(x, y)\n", "print(next(iter(loader)))\n")

    assert planned(before)[1] == ()


def test_an_access_without_a_loader_has_no_edit():
    assert planned(f"{DEVICE}x = torch.ones(3).to(device)\nx.numpy()\n")[1] == ()
