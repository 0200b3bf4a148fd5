"""Moves beside a sibling's move, and with the program's helper function."""

from __future__ import annotations

import pytest
from misplaced_batches import misplaced_items
from small_programs import DEVICE, edited, observe, sides

from devfix.fixes.tensors.sibling_style import move_beside_siblings, move_with_helper

SETUP = f"""{DEVICE}use_cuda = torch.cuda.is_available()
net = nn.Linear(4, 2).to(device)
loader = DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8, 2)))
"""


def item_in(text):
    observations = observe(text)
    item = misplaced_items(observations)[0]
    siblings = [
        transfer
        for transfer in observations.transfers
        if transfer.device == "accelerator" and transfer.origin.path != item.path
    ]
    return observations, item, siblings


LOOP = "  for x, y in loader:\n"


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(f"{LOOP}      y = y.to(device)\n+     x = x.to(device)\n      net(x)\n", id="statement"),
        pytest.param(
            f"{LOOP}      y = y.cuda() if use_cuda else y\n+     x = x.cuda() if use_cuda else x\n      net(x)\n",
            id="conditional-expression",
        ),
        pytest.param(
            f"{LOOP}-     x, y = x, y.to(device)\n+     x, y = x.to(device), y.to(device)\n      net(x)\n", id="tuple"
        ),
        pytest.param(
            "  for b in loader:\n-     x, y = b[0], b[1].to(device)\n+     x, y = b[0].to(device), b[1].to(device)\n"
            "      net(x)\n",
            id="subscript",
        ),
    ],
)
def test_an_item_is_moved_like_its_sibling(listing):
    before, after = sides(listing, SETUP)
    (planned,) = move_beside_siblings(*item_in(before))

    assert edited(before, [planned.edit]) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("for x, y in loader:\n    net(x)", id="no-sibling"),
        pytest.param("for x, y in loader:\n    net(x)\n\ndef f(y):\n    y.to(device)\nf(torch.ones(3))", id="function"),
    ],
)
def test_without_a_sibling_in_the_function_there_is_no_move(body):
    assert move_beside_siblings(*item_in(f"{SETUP}{body}\n")) is None


HELPER = "  def send(batch, where):\n      return [item.to(where) for item in batch]\n\n"
TRAIN = "  for batch in loader:\n      batch = send(batch, device)\n      net(batch[0])\n\n"


def test_the_helper_of_another_loop_is_called():
    before, after = sides(
        f"{HELPER}{TRAIN}  for batch in DataLoader(TensorDataset(torch.ones(8, 4))):\n"
        "+     batch = send(batch, device)\n      net(batch[0])\n",
        SETUP,
    )
    (planned,) = move_with_helper(*item_in(before))

    assert edited(before, [planned.edit]) == after


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(f"{HELPER}  for batch in loader:\n      net(batch[0])\n", id="never-called"),
        pytest.param(
            f"{HELPER}{TRAIN}  for other in DataLoader(TensorDataset(torch.ones(8, 4))):\n      net(other[0])\n",
            id="other-name",
        ),
        pytest.param(
            f"{HELPER}  def train(gpu):\n      for batch in loader:\n          batch = send(batch, gpu)\n"
            "          net(batch[0])\n\n  train(device)\n"
            "  for batch in DataLoader(TensorDataset(torch.ones(8, 4))):\n      net(batch[0])\n",
            id="device-out-of-scope",
        ),
    ],
)
def test_without_a_call_that_fits_the_helper_is_not_called(listing):
    assert move_with_helper(*item_in(sides(listing.replace("\n  ", "\n").removeprefix("  "), SETUP)[0])) is None
