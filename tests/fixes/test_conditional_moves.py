"""Moves under the condition of the program's other moves."""

from __future__ import annotations

import ast

import pytest
from small_programs import IMPORTS, edited, observe, sides

from devfix.fixes.tensors.conditional_moves import move_beside_conditional, move_under_condition
from devfix.fixes.tensors.tensor_creation import FactoryCall

SETUP = f"{IMPORTS}use_cuda = torch.cuda.is_available()\nnet = nn.Linear(4, 2)\nif use_cuda:\n    net.cuda()\n"


def creation_in(text):
    observations = observe(text)
    mismatch = observations.mismatches[0]
    (origin,) = mismatch.cpu[0].origins
    point = observations.sources[origin.site_id].point
    assert isinstance(point.node, ast.Call)
    return observations, point, FactoryCall(point.tree, point.node), observations.mismatches


def beside(text):
    return move_beside_conditional(*creation_in(text))


def under(text):
    return move_under_condition(*creation_in(text)[:3])


PAIR = "  x = torch.ones(3, 4)\n  y = torch.ones(3, 2)\n  if use_cuda:\n      x = x.cuda()\n"


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(f"{PAIR}+     y = y.cuda()\n  net(x) - y\n", id="tensor"),
        pytest.param(
            "  y = torch.ones(3, 4)\n  other = nn.Linear(4, 4)\n  if use_cuda:\n      other.cuda()\n"
            "+     y = y.cuda()\n  net(y)\n",
            id="module",
        ),
    ],
)
def test_a_tensor_is_moved_beside_a_conditional_move(listing):
    before, after = sides(listing, SETUP)

    assert edited(before, [beside(before)]) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("y = torch.ones(3, 4)\nnet(y)", id="moves-come-before"),
        pytest.param(
            "y = torch.ones(3, 4)\nnet(y)\nx = torch.ones(3)\nif use_cuda:\n    x = x.cuda()", id="used-before-the-move"
        ),
        pytest.param(
            "y = torch.ones(3, 4, requires_grad=True)\nx = torch.ones(3)\nif use_cuda:\n    x = x.cuda()\nnet(y)",
            id="leaf",
        ),
        pytest.param("x = torch.ones(3)\nif use_cuda:\n    x = x.cuda()\nnet(torch.ones(3, 4))", id="no-name"),
    ],
)
def test_without_a_conditional_move_between_creation_and_use_there_is_no_edit(body):
    assert beside(f"{SETUP}{body}\n") is None


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(
            "  y = torch.ones(3, 4)\n+ if use_cuda:\n+     y = y.cuda()\n  net(y)\n",
            id="script",
        ),
        pytest.param(
            "  def f():\n      y = torch.ones(3, 4)\n+     if use_cuda:\n+         y = y.cuda()\n      net(y)\n"
            "\n  f()\n",
            id="function",
        ),
        pytest.param(
            "  y = torch.empty(3, 4)\n  y.normal_()\n+ if use_cuda:\n+     y = y.cuda()\n  net(y)\n",
            id="after-its-initialization",
        ),
    ],
)
def test_a_tensor_is_moved_under_the_same_condition(listing):
    before, after = sides(listing, SETUP)

    assert edited(before, [under(before)]) == after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{SETUP.replace('.cuda()', '.to(0)')}y = torch.ones(3, 4)\nnet(y)", id="other-method"),
        pytest.param(f"{SETUP}y = torch.ones(3, 4, requires_grad=True)\nnet(y)", id="leaf"),
        pytest.param(f"{SETUP}net(torch.ones(3, 4))", id="no-name"),
        pytest.param(f"{IMPORTS}net = nn.Linear(4, 2).cuda()\ny = torch.ones(3, 4)\nnet(y)", id="unconditional"),
        pytest.param(
            f"{IMPORTS}net = nn.Linear(4, 2)\n\ndef start(use_cuda):\n    if use_cuda:\n        net.cuda()\n\n"
            "start(torch.cuda.is_available())\ny = torch.ones(3, 4)\nnet(y)",
            id="condition-out-of-scope",
        ),
    ],
)
def test_without_a_condition_in_scope_there_is_no_edit(text):
    assert under(text + "\n") is None
