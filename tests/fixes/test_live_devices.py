"""Live expressions for the accelerator at a program point."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, IMPORTS, observe

from devfix.fixes.live_devices import is_distant, live_devices


def point_in(text):
    return observe(text).mismatches[0].point


USE = "torch.ones(3).cuda() + torch.ones(3)\n"
CLASS = """
class Agent:
    def __init__(self, target):
        self.target = target
        self.name = "agent"

    def act(self):
        return torch.ones(3).cuda() + torch.ones(3)

Agent({argument}).act()
"""
CUDA = 'torch.device("cuda")'


@pytest.mark.parametrize(
    ("text", "expressions"),
    [
        pytest.param(f"dev = {CUDA}\nmy_device = device = dev\n{USE}", ["device", "dev", "my_device"], id="rank"),
        pytest.param(
            f"device = {CUDA}\n\ndef f(target):\n    {USE}\nf(device)\n", ["device", "target"], id="by-name-then-local"
        ),
        pytest.param(f"device = 'cuda:0'\n{USE}", ["device"], id="string"),
        pytest.param(CLASS.format(argument=CUDA), ["self.target"], id="attribute"),
        pytest.param(
            f"from argparse import Namespace\nargs = Namespace(device={CUDA})\ndev = {CUDA}\n{USE}",
            ["dev", "args.device"],
            id="names-before-attributes",
        ),
    ],
)
def test_live_devices_are_ranked(text, expressions):
    point = point_in(IMPORTS + text)

    assert live_devices(point, point.call_frame) == expressions


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(USE, id="no-name"),
        pytest.param(f'device = torch.device("cpu")\n{USE}', id="cpu"),
        pytest.param(f"device = torch.float32\n{USE}", id="dtype"),
        pytest.param(f"{USE}device = {CUDA}\n", id="later"),
        pytest.param(f"settings = {{'device': {CUDA}}}\n{USE}", id="dictionary"),
        pytest.param(CLASS.format(argument="3"), id="number-in-an-attribute"),
    ],
)
def test_other_values_are_no_devices(text):
    point = point_in(IMPORTS + text)

    assert live_devices(point, point.call_frame) == []


@pytest.mark.parametrize(
    ("preferred", "expressions"),
    [("args.device", ["device"]), ("other", ["other", "device"]), (None, ["device"])],
    ids=["not-live", "live", "none"],
)
def test_the_configured_expression_comes_first_if_its_root_name_is_visible(preferred, expressions):
    point = point_in(f"{DEVICE}other = object()\n{USE}")

    assert live_devices(point, point.call_frame, preferred) == expressions


OBJECTS = f"""
class Holder:
    def __init__(self):
        self.device = {CUDA}

holder = config = helper = Holder()

def f(x):
    helper
    return x + torch.ones(3)

f(torch.ones(3).cuda())
"""


@pytest.mark.parametrize(
    ("name", "distant"),
    [("holder", True), ("helper", False), ("config", False), ("x", False)],
    ids=["unused-global", "used-global", "settings", "parameter"],
)
def test_a_global_object_that_the_function_does_not_use_is_distant(name, distant):
    point = point_in(IMPORTS + OBJECTS)

    assert is_distant(point, point.call_frame, name) is distant
    assert is_distant(point, point.call_stack[0], name) is False


def test_the_device_of_a_distant_object_is_not_live():
    point = point_in(IMPORTS + OBJECTS)

    assert live_devices(point, point.call_frame) == ["config.device", "helper.device"]
