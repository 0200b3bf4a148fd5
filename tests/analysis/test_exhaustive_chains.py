"""Chains of comparisons with strings."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.transfer.exhaustive_chains import is_last
from devfix.syntax.tree import SourceTree


def _last(text: str) -> bool:
    tree = SourceTree("lib.py", text)
    inner = [node for node in ast.walk(tree.tree) if isinstance(node, ast.If)][-1]
    return is_last(tree, inner)


def test_the_last_comparison_of_one_value_ends_the_chain():
    assert _last("if m == 'a':\n    pass\nelif m in ('b', 'c'):\n    pass\n")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("len(m) == 1", "len(m) > 1"),
        ("1 < len(m)", "1 == len(m)"),
        ("on and 1 == len(m)", "on and 1 < len(m)"),
    ],
)
def test_one_and_more_are_all_numbers_of_a_list(first, second):
    assert _last(f"if {first}:\n    pass\nelif {second}:\n    pass\n")


@pytest.mark.parametrize("call", ["print(f'{m} is not known')", "logger.error('no %s', m)", "logging.warning(m)"])
def test_an_else_that_only_says_so_belongs_to_the_chain(call):
    assert _last(f"if m == 'a':\n    pass\nelif m == 'b':\n    pass\nelse:\n    {call}\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("if m == 'a':\n    pass\n", id="no chain"),
        pytest.param("if m == 'a':\n    pass\nelif n == 'b':\n    pass\n", id="two values"),
        pytest.param("if len(m) == 1:\n    pass\nelif len(m) > 2:\n    pass\n", id="two and others"),
        pytest.param("if len(m) == 1:\n    pass\nelif len(n) > 1:\n    pass\n", id="two lists"),
        pytest.param("if on and len(m) == 1:\n    pass\nelif len(m) > 1:\n    pass\n", id="another condition"),
        pytest.param("if m == 1:\n    pass\nelif m == 2:\n    pass\n", id="numbers"),
        pytest.param("if m == 'a':\n    pass\nelif m == 'b':\n    pass\nelse:\n    pass\n", id="else"),
        pytest.param("if m == 'a':\n    pass\nelif m == 'b':\n    pass\nelse:\n    x = f(m)\n", id="else that does"),
        pytest.param("if m == 'a':\n    if m == 'b':\n        pass\n", id="inside"),
    ],
)
def test_other_conditions_do_not(text):
    assert not _last(text)
