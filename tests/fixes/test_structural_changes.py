"""Submodules that are attached after their model was moved."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, observe

from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import Pointer
from devfix.fixes.modules.structural_changes import structural_change, weights_of

SETUP = f"{IMPORTS}net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))\nx = torch.ones(3, 4).cuda()\n"


def mismatch_in(body):
    return observe(f"{SETUP}{body}\n").mismatches[0]


def change_in(body):
    mismatch = mismatch_in(body)
    return structural_change(mismatch.point, weights_of(mismatch.cpu[0])[0])


@pytest.mark.parametrize(
    ("body", "attached", "moved"),
    [
        pytest.param("net.cuda()\nnet[1] = nn.Linear(4, 3)\nnet(x)", 8, 7, id="item"),
        pytest.param("net.cuda()\nnet.add_module('2', nn.Linear(2, 2))\nnet(x)", 8, 7, id="add-module"),
        pytest.param(
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = net\n\n"
            "    def forward(self, x):\n        return self.body(x)\n\nfull = Net().cuda()\n"
            "full.body[1] = nn.Sequential(nn.Linear(4, 3))\nfull(x)",
            16,
            15,
            id="nested",
        ),
    ],
)
def test_the_attachment_and_the_earlier_move_are_found(body, attached, moved):
    change = change_in(body)

    assert (change.attached.span.line, change.moved.span.line) == (attached, moved)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("net(x)", id="never-moved"),
        pytest.param("net[1] = nn.Linear(4, 3)\nnet(x)", id="attached-without-move"),
        pytest.param("net.cuda()\nnet.cpu()\nnet(x)", id="moved-back"),
        pytest.param("net.cuda()\nhead = nn.Linear(4, 3)\nhead(x)", id="not-attached"),
        pytest.param(
            "if asked():\n    net.cuda()\nother = nn.Module()\nother.head = net[0]\nnet(x)",
            id="held-by-another-one-too",
        ),
    ],
)
def test_without_an_attachment_after_the_move_there_is_no_change(body):
    assert change_in(body) is None


def test_a_tensor_that_is_no_weight_has_no_module():
    (operand,) = mismatch_in("x + torch.ones(4)").cpu

    assert weights_of(operand) == []


def test_a_parameter_belongs_to_its_module():
    mismatch = mismatch_in("x + net[0].weight")
    (part,) = weights_of(mismatch.cpu[0])

    assert isinstance(part, Pointer)
    assert module_at(mismatch.point.state, part) is not None
