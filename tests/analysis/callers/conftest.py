"""A function of a small file, asked for its arguments and its role."""

from __future__ import annotations

import ast
import textwrap

import pytest

from devfix.analysis.callers.kinds import argument_kinds
from devfix.analysis.callers.roles import role
from devfix.syntax.tree import SourceTree

HEADER = (
    "import numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn, Tensor\n"
    "from typing import *\n"
)


def _functions(tree: ast.AST, owner: ast.ClassDef | None = None):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, owner
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, node)


def _find(text: str, name: str | None, path: str):
    tree = SourceTree(path, HEADER + textwrap.dedent(text))
    found = [pair for pair in _functions(tree.tree) if name is None or pair[0].name == name]
    return *found[-1], tree


@pytest.fixture
def kinds():
    """The kind of each argument of the last function, or of the one that is named, as lower-case words."""

    def call(text: str, name: str | None = None) -> dict[str, str]:
        return {key: value.kind.name.lower() for key, value in argument_kinds(*_find(text, name, "lib.py")).items()}

    return call


@pytest.fixture
def arguments():
    """The arguments of the last function, or of the one that is named."""
    return lambda text, name=None: argument_kinds(*_find(text, name, "lib.py"))


@pytest.fixture
def role_of():
    """The role of the last function, or of the one that is named, as a lower-case word."""
    return lambda text, name=None, path="lib.py": role(*_find(text, name, path)).name.lower()
