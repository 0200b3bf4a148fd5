"""The names of a file."""

from __future__ import annotations

import ast
import gc
import textwrap
import weakref

import pytest

from devfix.analysis.callers.file_names import FileNames, names_of
from devfix.syntax.tree import SourceTree


def names(text: str) -> FileNames:
    return names_of(SourceTree("lib.py", textwrap.dedent(text)))


@pytest.mark.parametrize(
    ("imported", "expression", "full"),
    [
        ("import torch.nn.functional as F", "F.relu", "torch.nn.functional.relu"),
        ("from torch.nn import functional as F", "F.relu", "torch.nn.functional.relu"),
        ("import torch.nn", "torch.nn.Linear", "torch.nn.Linear"),
        ("import torch as th", "th.cat", "torch.cat"),
        ("from .layers import Block", "Block", ".layers.Block"),
        ("def f():\n    import numpy as np", "np.ones", "numpy.ones"),
        ("", "self.conv", "self.conv"),
        ("", "f(x).y", ""),
    ],
)
def test_names_are_resolved(imported, expression, full):
    assert names(imported).full_name(ast.parse(expression, mode="eval").body) == full


@pytest.mark.parametrize(
    ("text", "is_module"),
    [
        ("from torch import nn\n\nclass A(nn.Module): ...", True),
        ("from torch import nn\n\nclass A(nn.Linear): ...", True),
        ("from .base import MyModule\n\nclass A(MyModule): ...", True),
        ("from .base import Base\n\nclass A(Base):\n    def forward(self, x): ...", True),
        ("from .base import Base\n\nclass A(Base): ...", False),
        ("from .data import MyDataModule\n\nclass A(MyDataModule): ...", False),
        ("from abc import ABC\n\nclass A(ABC):\n    def forward(self, x): ...", False),
        (
            "from torch.autograd import Function as F\n\nclass A(F):\n    @staticmethod\n    def forward(ctx, x): ...",
            False,
        ),
        ("class A(B): ...\n\nclass B(A): ...", False),
    ],
)
def test_classes_of_modules(text, is_module):
    found = names(text)
    assert found.is_module(found.classes["A"]) == is_module


def test_attributes_have_a_class():
    found = names(
        """
        from torch import nn

        class Base(nn.Module):
            def __init__(self):
                self.norm = nn.LayerNorm(3)

        class Block(Base):
            def __init__(self):
                self.linear = nn.Linear(3, 3)
        """
    )
    block = found.classes["Block"]
    assert found.attribute_class(block, "linear") == "torch.nn.Linear"
    assert found.attribute_class(block, "norm") == "torch.nn.LayerNorm"
    assert found.attribute_class(block, "other") == ""


def test_names_do_not_keep_the_tree():
    tree = SourceTree("lib.py", "import torch")
    names_of(tree)
    there = weakref.ref(tree)
    del tree
    gc.collect()
    assert there() is None
