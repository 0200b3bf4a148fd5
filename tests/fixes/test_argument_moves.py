"""Arguments that are moved where they are passed on."""

from __future__ import annotations

import pytest
from misplaced_batches import misplaced_items
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.tensors.argument_moves import move_argument
from devfix.fixes.tensors.misplaced_items import bindings_of

SETUP = f"""\
{IMPORTS}

def numbers(text):
    codes = torch.tensor([float(ord(one)) for one in text])
    return codes.unsqueeze(0)


def generate(model, start, count=2, device=None):
    return [model(start) for _ in range(count)]

"""
MODEL = (
    "    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n    net = nn.Linear(4, 2).to(device)\n"
)


def planned(text):
    observations = observe(text)
    (misplaced,) = misplaced_items(observations)
    found = (move_argument(observations, misplaced, binding) for binding in bindings_of(observations, misplaced))
    return next((each for each in found if each is not None), None)


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(
            "- generate(net, numbers('abcd'))\n+ generate(net, numbers('abcd').to(device))\n", id="by-position"
        ),
        pytest.param(
            "- generate(start=numbers('abcd'), model=net)\n+ generate(start=numbers('abcd').to(device), model=net)\n",
            id="by-name",
        ),
        pytest.param("  x = numbers('abcd')\n- generate(net, x)\n+ generate(net, x.to(device))\n", id="of-a-name"),
    ],
)
def test_the_caller_moves_what_it_passes_on(listing):
    setup = f"{SETUP}\ndef main():\n{MODEL}"
    before, after = sides("".join(f"{line[:2]}    {line[2:]}\n" for line in listing.splitlines()), setup)
    before, after = f"{before}\n\nmain()\n", f"{after}\n\nmain()\n"

    found = planned(before)

    assert found is not None
    assert edited(before, (found.edit,)) == after


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("generate(net, *[numbers('abcd')])", id="starred"),
        pytest.param("generate(net, generate(nn.Identity(), numbers('abcd'))[0])", id="two-calls"),
    ],
)
def test_a_call_whose_argument_is_not_certain_is_left_alone(call):
    assert planned(f"{SETUP}\ndef main():\n{MODEL}    {call}\n\n\nmain()\n") is None


def test_a_function_that_names_the_device_moves_its_own_parameter():
    assert planned(f"{DEVICE}{SETUP}net = nn.Linear(4, 2).to(device)\ngenerate(net, numbers('abcd'))\n") is None
