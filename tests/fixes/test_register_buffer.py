"""Attributes that become buffers."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, edited, observe, sides

from devfix.fixes.modules.attribute_writes import attribute_groups
from devfix.fixes.modules.register_buffer import register_buffers

HEAD = "  class Net(nn.Module):\n      def __init__(self, flag=False):\n"
SUPER = "          super().__init__()\n"
TAIL = "\n      def forward(self, x):\n          return {}\n\n  net = Net().cuda()\n  net(torch.ones(4).cuda())\n"


def registered(text):
    group = next(attribute_groups(observe(text)))
    return register_buffers(group)


@pytest.mark.parametrize(
    ("body", "result"),
    [
        pytest.param(
            "-         self.mask = torch.ones(4)\n"
            '+         self.register_buffer("mask", torch.ones(4), persistent=False)\n',
            "x + self.mask",
            id="assignment",
        ),
        pytest.param(
            "-         self.a, self.b = torch.ones(4), torch.zeros(4)\n"
            '+         self.register_buffer("a", torch.ones(4), persistent=False)\n'
            '+         self.register_buffer("b", torch.zeros(4), persistent=False)\n',
            "x + (self.a + self.b)",
            id="unpacking",
        ),
        pytest.param(
            "-         self.a, self.n = torch.ones(4), 3\n"
            '+         self.register_buffer("a", torch.ones(4), persistent=False)\n'
            "+         self.n = 3\n",
            "x + self.a",
            id="unpacking-with-a-number",
        ),
        pytest.param(
            "-         self.mask: torch.Tensor = torch.ones(4)\n"
            "+         self.mask: torch.Tensor\n"
            '+         self.register_buffer("mask", torch.ones(4), persistent=False)\n',
            "x + self.mask",
            id="annotation",
        ),
        pytest.param(
            '-         setattr(self, "mask", torch.ones(4))\n'
            '+         self.register_buffer("mask", torch.ones(4), persistent=False)\n',
            "x + self.mask",
            id="setattr",
        ),
        pytest.param(
            "-         self.mask = None\n"
            '+         self.register_buffer("mask", None, persistent=False)\n'
            "          self.mask = torch.ones(4)\n",
            "x + self.mask",
            id="first-write-only",
        ),
    ],
)
def test_the_assignment_becomes_a_registration(body, result):
    before, after = sides(HEAD + SUPER + body + TAIL.format(result), IMPORTS)

    assert edited(before, registered(before)) == after


def test_an_early_assignment_moves_behind_the_constructor():
    before, after = sides(
        f"{HEAD}-         self.mask = torch.ones(4)\n{SUPER}"
        '+         self.register_buffer("mask", torch.ones(4), persistent=False)\n' + TAIL.format("x + self.mask"),
        IMPORTS,
    )

    assert edited(before, registered(before)) == after


@pytest.mark.parametrize(
    ("body", "result", "reason"),
    [
        pytest.param(f"{SUPER}          self.half = torch.ones(4)\n", "x + self.half", "cannot be the name", id="name"),
        pytest.param(
            f"{SUPER}          self.mask = [torch.ones(4)]\n", "x + self.mask[0]", "holds several tensors", id="list"
        ),
        pytest.param(
            f"{SUPER}          self.mask = torch.ones(4)\n          if flag:\n              self.mask = 3\n",
            "x + self.mask",
            "not a tensor",
            id="number",
        ),
        pytest.param(
            f"{SUPER}          self.mask = self.other = torch.ones(4)\n",
            "x + self.mask",
            "several targets",
            id="several-targets",
        ),
        pytest.param(
            f"          self.mask = torch.ones(4)\n          self.size = self.mask.shape\n{SUPER}",
            "x + self.mask",
            "earlier statements use the attribute",
            id="needed-before-the-constructor",
        ),
        pytest.param(
            f"{SUPER}          self.mask = torch.ones(4)\n\n      def mask(self):\n          pass\n",
            "x + self.mask",
            "already has an attribute `mask`",
            id="method-of-the-same-name",
        ),
    ],
)
def test_an_attribute_that_cannot_be_a_buffer_has_a_reason(body, result, reason):
    found = registered(sides(HEAD + body + TAIL.format(result), IMPORTS)[0])

    assert isinstance(found, str)
    assert reason in found
