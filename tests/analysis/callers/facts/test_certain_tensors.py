"""Certain tensors: which expressions of a function are tensors, by syntax."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.callers.facts.certain_tensors import CertainTensors
from devfix.analysis.callers.file_names import names_of
from devfix.syntax.tree import SourceTree

MODULE = """
import torch
from torch import Tensor, nn

class Net(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.norm = norm(3)
        self.scale = 0.5
        self.w = nn.Parameter(torch.ones(3))
        self.layers = nn.ModuleList()

    def size(self):
        return 3

    def forward(self, x: torch.Tensor, mask: Tensor | None, y, z, n: int):
        {body}
"""


def tensors(body: str, owner: bool = True) -> tuple[CertainTensors, ast.FunctionDef]:
    tree = SourceTree("net.py", MODULE.replace("{body}", body.replace("\n", "\n        ")))
    cls = next(node for node in tree.nodes if isinstance(node, ast.ClassDef))
    function = cls.body[-1]
    assert isinstance(function, ast.FunctionDef)
    return CertainTensors(function, cls if owner else None, names_of(tree)), function


def is_certain(body: str, expression: str) -> bool:
    return tensors(body)[0].holds(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "x * 2",
        "2 * x",
        "-x",
        "x[0]",
        "x.T",
        "x.view(-1)",
        "torch.relu(y)",
        "torch.cat([y, z])",
        "self.fc(y)",
        "self.norm(x)",
        "self.w",
        "self.w + y",
        "y @ z",
        "x if n else torch.relu(y)",
    ],
)
def test_these_are_tensors(expression):
    assert is_certain("return x", expression)


@pytest.mark.parametrize(
    "expression",
    [
        "y",
        "n",
        "mask",
        "y * z",
        "y.view(-1)",
        "x.shape",
        "x.size(0)",
        "x.tolist()",
        "self.norm(y)",
        "self.scale",
        "self.scale()",
        "self.size()",
        "self.layers",
        "make(x)",
        "x if n else y",
        "(x, y)",
    ],
)
def test_these_may_be_anything(expression):
    assert not is_certain("return x", expression)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("a = x + 1", "a"),
        ("a = None\nif n:\n    a = x", "a"),
        ("a, b = x.chunk(2)", "b"),
        ("a = x\nfor _ in range(n):\n    a = a * 2", "a"),
        ("self.fc(y)", "y"),
        ("if (a := x) is None: pass", "a"),
    ],
)
def test_a_name_is_one_if_all_that_it_is_bound_to_are(body, name):
    assert is_certain(body, name)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("a = x\nif n:\n    a = 3", "a"),
        ("for a in x: pass", "a"),
        ("x = y", "x"),
        ("a = x\ndef f(a): pass", "a"),
        ("a = x\nf = lambda a: a", "a"),
        ("with f() as a: pass", "a"),
        ("a = x\ntry: pass\nexcept E as a: pass", "a"),
        ("a = x\nmatch y:\n    case [int() as a]: pass", "a"),
        ("a = x\nmatch y:\n    case [_, *a]: pass", "a"),
        ("a = x\nimport a.b", "a"),
        ("a = x\nfrom b import c as a", "a"),
        ("b = x\nb = [c for b in y]", "b"),
        ("pass", "unbound"),
    ],
)
def test_a_name_with_another_value_may_be_that(body, name):
    assert not is_certain(body, name)


def test_layers_are_those_of_the_module():
    found, _ = tensors("return x")

    assert found.is_layer(ast.parse("self.fc", mode="eval").body)
    assert not found.is_layer(ast.parse("self.norm", mode="eval").body)


def test_a_function_has_no_parts():
    found, _ = tensors("return x", owner=False)

    assert not found.holds(ast.parse("self.fc(y)", mode="eval").body)
    assert not found.holds(ast.parse("y @ z", mode="eval").body)
