"""Devices that a program reads from a tensor or module."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, observe

from codemods.offloading.not_moved_back import MoveToCPU
from devfix.fixes.devices.derived_devices import is_computed_device, is_derived_device, restores_device

SETUP = f"{DEVICE}net = nn.Linear(4, 2)\nx = torch.ones(3)\nclass Args:\n    device = 'cuda'\n\nargs = Args()\n"


def move_in(body):
    return observe(f"{SETUP}{body}\n").moves[-1]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("old = next(net.parameters()).device\nnet.cuda()\nnet.to(old)", id="module"),
        pytest.param("old = x.device\nnet.cuda()\nnet.to(old)", id="tensor"),
        pytest.param("first = x.device\nold = first\nnet.cuda()\nnet.to(old)", id="through-a-name"),
        pytest.param("for old in [x.device]:\n    net.cuda()\n    net.to(old)", id="loop"),
    ],
)
def test_the_device_of_a_value_is_derived(body):
    observations = observe(f"{SETUP}{body}\n")
    moved = [*observations.moves, *(move.point for move in observations.of(MoveToCPU))][-1]

    assert restores_device(moved)
    assert is_derived_device(moved, moved.node.args[0])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("net.to(device)", id="chosen"),
        pytest.param("gpu = args.device\nnet.to(gpu)", id="settings"),
        pytest.param("old = x.device\nnet.to(device)", id="other-name"),
        pytest.param("net.to('cuda')", id="literal"),
        pytest.param("net.cuda()", id="no-argument"),
    ],
)
def test_a_chosen_device_is_not_derived(body):
    assert not restores_device(move_in(body))


PIPELINE = """
import hooks

class Pipeline:
    def __init__(self, net):
        self.net, self.stored = net, torch.device("cuda")

    @property
    def place(self):
        return torch.device({})

    def run(self):
        device = {}
        self.prepare(device)

    def prepare(self, device):
        self.net.to(device)

Pipeline(net).run()
"""


@pytest.mark.parametrize(
    ("place", "device", "is_computed"),
    [
        pytest.param("'cuda'", "self.place", True, id="a-property"),
        pytest.param("'cuda'", "getattr(self, 'last_device', torch.device('cuda'))", True, id="a-mode"),
        pytest.param("'cuda'", "self.stored", False, id="stored"),
        pytest.param("'cuda'", "torch.device('cuda')", False, id="written-there"),
        pytest.param("'cuda' if torch.cuda.is_available() else 'cpu'", "self.place", False, id="a-choice"),
    ],
)
def test_what_a_property_returns_may_follow_the_modules(place, device, is_computed):
    moved = move_in(PIPELINE.format(place, device))

    assert is_computed_device(moved, moved.node.args[0]) is is_computed
