"""Expressions around an argument: casts, sizes, texts, indices."""

from __future__ import annotations

import ast

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.defaults import literal_kind
from devfix.analysis.callers.votes import SEQUENCES

__all__ = ["has_sizes", "holds_texts", "kinds_with_index", "root_of_cast"]

_ARRAYS = frozenset({Kind.TENSOR, Kind.ARRAY})

# Methods whose result is the same tensor in another form: the name keeps its kind.
_CASTS = frozenset(
    "to cuda cpu xpu type type_as float double half bfloat16 long int bool "
    "contiguous clone detach requires_grad_".split()
)


def has_sizes(call: ast.Call) -> bool:
    """Return whether a call of ``view`` has sizes, not a dtype."""
    first = call.args[0] if call.args else None
    return len(call.args) > 1 or (first is not None and literal_kind(first) in (Kind.NUMBER, Kind.LIST))


def holds_texts(node: ast.expr) -> bool:
    elements = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else []
    return bool(elements) and all(literal_kind(element) is Kind.TEXT for element in elements)


def root_of_cast(value: ast.expr) -> str:
    """Return the name whose kind a value has: ``x``, ``x.to(device)``, ``x.float()``, ``2 * x``, ``x[:, 0]``."""
    while not isinstance(value, ast.Name):
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _CASTS:
                value = inner
            case ast.BinOp(left=inner, right=other) if literal_kind(other) is Kind.NUMBER:
                value = inner
            case ast.BinOp(left=other, right=inner) if literal_kind(other) is Kind.NUMBER:
                value = inner
            case ast.Subscript(value=inner, slice=index) if Kind.LIST not in kinds_with_index(index):
                value = inner
            case _:
                return ""
    return value.id


def kinds_with_index(index: ast.expr) -> frozenset[Kind]:
    """Return the kinds that an index fits."""
    if isinstance(index, ast.Tuple):
        return _ARRAYS if any(_is_axis(part) for part in index.elts) else _ARRAYS | {Kind.TENSOR_DICT}
    if literal_kind(index) is Kind.TEXT:
        return frozenset({Kind.TENSOR_DICT})
    if isinstance(index, ast.Slice):
        return SEQUENCES - {Kind.TENSOR_DICT}
    if _is_axis(index) or isinstance(index, (ast.Compare, ast.Invert)):
        return _ARRAYS
    return SEQUENCES


def _is_axis(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and node.value in (None, ...))
