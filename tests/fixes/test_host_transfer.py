"""Edits that copy a value to the CPU."""

from __future__ import annotations

import ast

import pytest
from small_programs import edited, observe

from devfix.analysis.domain.values import ACCELERATOR, Tensor
from devfix.fixes.host_transfer import as_number, each_to_cpu, to_cpu, trailer
from devfix.syntax.tree import SourceTree

PLAIN = Tensor(ACCELERATOR)
WITH_GRAD = Tensor(ACCELERATOR, grad=True)


def value_of(tree):
    return tree.tree.body[0].value


@pytest.mark.parametrize(
    ("tensors", "code"),
    [
        pytest.param([PLAIN], ".cpu()", id="plain"),
        pytest.param([], ".cpu()", id="unknown"),
        pytest.param([WITH_GRAD], ".detach().cpu()", id="requires-grad"),
        pytest.param([PLAIN, WITH_GRAD], ".detach().cpu()", id="one-of-two"),
    ],
)
def test_a_tensor_that_requires_grad_is_detached(tensors, code):
    assert trailer(tensors) == code
    tree = SourceTree("t.py", "a + b")
    assert edited("a + b", [to_cpu(tree, value_of(tree), tensors)]) == f"(a + b){code}"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("loss.data", "loss.item()"),
        ("loss", "loss.item()"),
        ("out.data.sum()", "out.data.sum().item()"),
        ("self.loss.data", "self.loss.item()"),
    ],
)
def test_a_number_replaces_data(text, number):
    tree = SourceTree("t.py", text)

    assert edited(text, [as_number(tree, value_of(tree))]) == number


@pytest.mark.parametrize(
    ("name", "item"),
    [("losses", "loss"), ("scores", "score"), ("self.values", "value"), ("data", "item"), ("s", "item")],
)
def test_each_item_of_a_list_is_copied_under_its_singular(name, item):
    tree = SourceTree("t.py", name)
    point = type("Point", (), {"tree": tree})()

    assert edited(name, [each_to_cpu(point, value_of(tree), [PLAIN])]) == f"[{item}.cpu() for {item} in {name}]"


@pytest.mark.parametrize(
    ("appended", "copied"),
    [("x.sum()", "loss.item()"), ("x", "loss.cpu()")],
    ids=["single-numbers", "vectors"],
)
def test_single_numbers_become_python_numbers(appended, copied):
    text = (
        "import torch\nimport numpy as np\n\nx = torch.ones(3).cuda()\nlosses = []\n"
        f"losses.append({appended})\nnp.mean(losses)\n"
    )
    (access,) = observe(text).host_accesses.values()

    edit = each_to_cpu(access.point, access.expression, access.tensors)

    assert isinstance(access.expression, ast.Name)
    assert edited(text, [edit]) == text.replace("(losses)", f"([{copied} for loss in losses])")
