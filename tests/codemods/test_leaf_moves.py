"""Copies of leaf tensors: which moves are recorded, and which uses of the copy."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, observe

from codemods.optimizers._leaf_moves import LeafMove
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

LEAF = "w = torch.ones(3, requires_grad=True)\n"
MOVED = f"{LEAF}w = w.to(device)\n"


def recorded(text):
    return [(move.kind, sorted(move.uses)) for move in observe(f"{DEVICE}{text}\n").of(LeafMove)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(MOVED, "leaf", id="factory"),
        pytest.param("torch.ones(3, requires_grad=True).cuda()", "leaf", id="factory-at-once"),
        pytest.param("torch.tensor([1.0], requires_grad=True).to(device)", "leaf", id="data"),
        pytest.param("torch.ones(1).new_zeros(3, requires_grad=True).to(device)", "leaf", id="method"),
        pytest.param("nn.Parameter(torch.ones(3)).to(device)", "parameter", id="parameter"),
        pytest.param("torch.ones(3).requires_grad_().to(device)", "asked", id="requires-grad"),
    ],
)
def test_the_move_of_a_leaf_is_recorded(text, kind):
    assert recorded(text) == [(kind, [])]


def test_a_variable_of_another_tensor_makes_no_leaf_of_that_one():
    variable = "v = torch.autograd.Variable(w, requires_grad=True)\n"

    assert recorded(f"w = torch.ones(3)\n{variable}w = w.to(device)") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("torch.ones(3).to(device)", id="no-gradient"),
        pytest.param("torch.ones(3, requires_grad=False).to(device)", id="false"),
        pytest.param(f"{LEAF}w.to('cpu')", id="to-the-cpu"),
        pytest.param(f"{LEAF}w.detach().to(device)", id="detached"),
        pytest.param("w = torch.ones(3, requires_grad=True, device=device)\nw.to(device)", id="there-already"),
    ],
)
def test_other_moves_are_not(text):
    assert recorded(text) == []


@pytest.mark.parametrize(
    ("use", "uses"),
    [
        pytest.param("torch.optim.SGD([w], lr=0.1)", ["optimizer"], id="optimizer"),
        pytest.param("torch.optim.SGD([{'params': [w]}], lr=0.1)", ["optimizer"], id="optimizer-with-groups"),
        pytest.param("print(w.grad)", ["grad"], id="gradient"),
        pytest.param("w.retain_grad()\nprint(w.grad)", ["grad", "retained"], id="retained"),
        pytest.param("net = nn.Linear(3, 2)\nnet.w = w", ["attribute"], id="attribute-of-a-module"),
        pytest.param("class A:\n    pass\na = A()\na.w = w", [], id="attribute-of-an-object"),
        pytest.param("print(w.detach().grad)", [], id="detached"),
        pytest.param("print(w.data.grad)", [], id="data"),
        pytest.param("w = w.detach_()\nprint(w.grad)", [], id="detached-in-place"),
    ],
)
def test_uses_that_need_a_leaf_are_recorded(use, uses):
    assert recorded(MOVED + use) == [("leaf", uses)]


def test_without_gradients_the_copy_is_a_leaf():
    text = "with torch.no_grad():\n    w = nn.Parameter(torch.ones(3)).to(device)\nw.requires_grad = True"

    assert recorded(text) == []
    assert recorded(text.replace("with torch.no_grad():", "if True:")) == [("parameter", [])]


@pytest.mark.parametrize(
    "use", ["torch.optim.Adam(items)", "net.kept = items", "torch.save(items, 'x.pt')", "net(*items)"]
)
def test_a_list_that_contains_itself_ends(tmp_path, use):
    text = f"""\
import torch
from torch import nn

net = nn.Linear(3, 3).cuda()
items = [torch.ones(3, requires_grad=True).cuda()]
items.append(items)
items.append({{"all": items}})
{use}
"""
    source = SourceFile(str(tmp_path / "train.py"), text.encode(), text)

    assert fixpoint.check([source], Settings(root=str(tmp_path))).problems == ()
