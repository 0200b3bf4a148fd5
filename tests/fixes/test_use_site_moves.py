"""Tensor attributes that are created on the device, or moved at their uses."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.modules.attribute_writes import attribute_groups
from devfix.fixes.modules.use_site_moves import create_on_device, move_at_use, replace_aliases

AGENT = """\
  class Agent:
      def __init__(self, device):
          self.device = device
          {init}

      def act(self, x):
          return {result}

  Agent(torch.device("cuda")).act(torch.ones(4).cuda())
"""
NET = """\
  class Net(nn.Module):
      def __init__(self):
          super().__init__()
          {init}

      def forward(self, x):
          return {result}

  net = Net().cuda()
  net(torch.ones(4).cuda())
"""


def group_in(text):
    observations = observe(text)
    return observations, next(attribute_groups(observations))


def change(program, old, new, **parts):
    """Return the program before and after one line changes."""
    before = sides(program.format(**parts), IMPORTS)[0]
    assert old in before
    return before, before.replace(old, new)


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        ("torch.zeros(4)", "torch.zeros(4, device=device)"),
        ("torch.randn(4)", "torch.randn(4).to(device)"),
        ("torch.tensor([1.0])", "torch.tensor([1.0], device=device)"),
    ],
)
def test_an_attribute_is_created_on_the_device_of_its_object(created, expected):
    before, after = change(AGENT, created, expected, init=f"self.mask = {created}", result="x + self.mask")

    assert edited(before, create_on_device(*group_in(before))) == after


@pytest.mark.parametrize(
    "init",
    ["self.mask = torch.ones(4)", "self.mask = torch.randn(4)\n          self.bias = torch.ones(4)"],
    ids=["one", "two"],
)
def test_a_module_has_no_device_in_its_constructor(init):
    before, _ = change(NET, "Net()", "Net()", init=init, result="x + self.mask")

    assert create_on_device(*group_in(before)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + self.mask", "x + self.mask.to(x.device)"),
        ("x[:2] + self.mask[:2]", "x[:2] + self.mask[:2].to(x.device)"),
        ("torch.cat([x, self.mask])", "torch.cat([x, self.mask.to(x.device)])"),
    ],
)
def test_an_attribute_is_moved_where_it_is_used(old, new):
    before, after = change(NET, old, new, init="self.mask = torch.ones(4)", result=old)

    assert edited(before, move_at_use(*group_in(before))) == after


def test_an_attribute_is_moved_where_it_gets_a_local_name():
    before, after = sides(
        NET.format(init="self.mask = torch.ones(4)", result="x + mask").replace(
            "          return", "-         mask = self.mask\n+         mask = self.mask.to(x.device)\n          return"
        ),
        IMPORTS,
    )

    assert edited(before, move_at_use(*group_in(before))) == after


def test_an_attribute_in_a_list_of_another_function_is_not_moved_with_the_list():
    text = (
        f"{IMPORTS}class Data:\n    def __init__(self):\n        self.x = torch.ones(3)\n\n"
        "def joined(x, y):\n    return torch.cat([x, y])\n\n"
        "joined(Data().x, torch.ones(3).cuda())\n"
    )

    assert "[x, y].to" not in edited(text, move_at_use(*group_in(text)))


def test_without_a_device_an_attribute_is_not_moved():
    text = (
        f"{IMPORTS}class Data:\n    def __init__(self):\n        self.x = torch.ones(3)\n\n"
        "torch.ones(3).cuda() + Data().x\n"
    )

    assert move_at_use(*group_in(text)) == []


ALIAS = NET.format(init="self.register_buffer('pe', torch.ones(4))\n          self.mask = {value}", result="x + {read}")


@pytest.mark.parametrize(
    ("read", "expected"), [("self.mask", "self.pe"), ("self.mask[:4]", "self.pe[:4]")], ids=["whole", "slice"]
)
def test_an_alias_is_replaced_by_its_buffer(read, expected):
    before = sides(ALIAS.format(value="self.pe", read=read), IMPORTS)[0]
    _, group = group_in(before)

    assert edited(before, replace_aliases(group)) == before.replace(f"x + {read}", f"x + {expected}")


def test_an_alias_with_two_values_is_not_replaced():
    body = ALIAS.format(value="self.pe\n          self.mask = self.pe", read="self.mask")
    _, group = group_in(sides(body, IMPORTS)[0])

    assert replace_aliases(group) == []


def test_a_device_of_the_script_serves_the_operation_in_the_script():
    before = (
        f"{DEVICE}class Data:\n    def __init__(self):\n        self.x = torch.ones(3)\n\n"
        "data = Data()\ny = torch.ones(3).to(device)\nprint(y * data.x)\n"
    )

    assert edited(before, move_at_use(*group_in(before))) == before.replace("* data.x", "* data.x.to(device)")
