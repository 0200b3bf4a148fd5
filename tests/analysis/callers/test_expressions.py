"""Expressions around an argument."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.expressions import kinds_with_index, root_of_cast


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x", "x"),
        ("x.to(device).float()", "x"),
        ("2 * x / 3", "x"),
        ("x[:, 0]", "x"),
        ("x[0]", ""),
        ("x * y", ""),
        ("f(x)", ""),
        ("x.tolist()", ""),
    ],
)
def test_a_cast_keeps_the_kind(text, name):
    assert root_of_cast(expression(text)) == name


@pytest.mark.parametrize(
    ("index", "is_list", "is_tensor"),
    [("0", True, True), ("1:", True, True), ("None", False, True), (":, 0", False, True), ("'a'", False, False)],
)
def test_an_index_fits_some_kinds(index, is_list, is_tensor):
    node = expression(f"x[{index}]")
    assert isinstance(node, ast.Subscript)
    kinds = kinds_with_index(node.slice)
    assert (Kind.LIST in kinds, Kind.TENSOR in kinds) == (is_list, is_tensor)
