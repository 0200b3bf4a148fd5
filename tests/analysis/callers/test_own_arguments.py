"""Arguments that a function hands to the host as they are."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.callers.own_arguments import is_given_argument, is_own_argument
from devfix.syntax.tree import SourceTree

HEADER = "import numpy as np\nimport torch\nfrom torch import Tensor\nfrom lib import encode\n\n"


def own(text, test=is_own_argument):
    """Return whether what the last line returns is made of the function's own arguments."""
    tree = SourceTree("lib.py", HEADER + text)
    function = tree.tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    returned = function.body[-1]
    assert isinstance(returned, ast.Return)
    return test(returned.value, function, None, tree)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x):\n    return x", id="argument"),
        pytest.param("def f(xs):\n    return torch.cat(xs, dim=0)", id="function-of-pytorch"),
        pytest.param("def f(x, k):\n    y = x[~k]\n    y = y.float()\n    return y", id="local-names"),
        pytest.param("def f(xs):\n    return [x for x in xs]", id="items"),
    ],
)
def test_what_is_made_of_arguments_alone_is_theirs(text):
    assert own(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x: Tensor):\n    return x", id="declared-as-a-tensor"),
        pytest.param("def f(x):\n    return encode(x)", id="another-function"),
        pytest.param("def f(self, x):\n    y = self.layer(x)\n    return y", id="weights"),
        pytest.param("def f():\n    return torch.ones(3)", id="no-argument"),
    ],
)
def test_anything_else_is_not(text):
    assert not own(text)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("def f(lengths):\n    return lengths", True),
        ("def f(lengths, order):\n    return lengths[order].tolist()", True),
        ("def f(x):\n    return x.ne(0).sum(1)", False),
        ("def f(x):\n    mask = x != 0\n    n = torch.sum(mask, dim=1)\n    return n", False),
    ],
)
def test_what_is_counted_is_not_given(text, given):
    assert own(text, is_given_argument) is given
