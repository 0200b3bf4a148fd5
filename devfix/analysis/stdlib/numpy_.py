"""NumPy values: arrays with at least one dimension, and scalars.

NumPy results are :class:`Unknown` values with symbols ``numpy.…``; arrays with at least one dimension have symbols
``numpy.array@line:column``.  A CPU tensor created from a scalar is 0-dim and may be combined with any tensor, one
created from an array may not.  Functions that return scalars: https://numpy.org/doc/stable/reference/arrays.scalars.html
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from devfix.analysis.domain.values import NONE, Const, Tensor, TupleValue, Unknown, Value, alternatives

__all__ = ["array", "is_array", "is_of_numpy", "item", "operator_result", "result_of"]

_MARK = "numpy.array@"
_VALUE = "numpy.value@"
_MAKE = frozenset(
    "array asarray ascontiguousarray zeros ones full empty zeros_like ones_like full_like arange linspace logspace eye "
    "identity stack concatenate vstack hstack column_stack meshgrid tile repeat expand_dims loadtxt genfromtxt".split()
)
_ELEMENTWISE = frozenset(
    "exp log log2 log10 log1p expm1 sqrt square abs absolute sign sin cos tan tanh arctan clip maximum minimum where "
    "power round floor ceil nan_to_num sort argsort cumsum diff transpose roll flip float32 float64 int64".split()
)
_SUM_UP = frozenset(
    "mean std var sum max min median prod any all argmax argmin ptp nanmean nanstd nansum percentile quantile".split()
)
_DRAW_BY_SHAPE = frozenset("rand randn random standard_normal random_sample permutation".split())
_ONLY_OF_ARRAYS = frozenset("astype to_numpy".split())
_KEEP_DIMENSIONS = frozenset("reshape flatten ravel transpose swapaxes repeat".split())
_SAME = frozenset("copy clip round cumsum".split())
_ARRAY_OF_TENSOR = "torch.Tensor.numpy()"


def is_array(value: Value) -> bool:
    """Return whether a value is a NumPy array with at least one dimension."""
    return isinstance(value, Unknown) and value.symbol.startswith(_MARK)


def is_of_numpy(value: Unknown) -> bool:
    """Return whether a value comes from NumPy: an array, that of a tensor too, or a scalar."""
    return _of_numpy(value.symbol) or value.symbol.startswith(_ARRAY_OF_TENSOR)


def _of_numpy(symbol: str) -> bool:
    return symbol.startswith("numpy.")


def array(node: ast.AST) -> Unknown:
    """Return an array that is made at a node."""
    return Unknown(f"{_MARK}{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}")


def _value(node: ast.AST) -> Unknown:
    return Unknown(f"{_VALUE}{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}")


def result_of(name: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.Call) -> Value | None:
    """Return the NumPy result of an external function or method; ``None`` if it is not from NumPy.

    ``name`` is the full name: ``numpy.zeros``, or for a method the origin of its object: ``numpy.random.rand().mean``.
    """
    owner, _, last = name.rpartition(".")
    last = node.func.attr if isinstance(node.func, ast.Attribute) else last
    if last in _ONLY_OF_ARRAYS:
        return array(node)
    if not _of_numpy(name):
        return None
    if last == "isscalar" and args and all(map(_is_tensor, alternatives(args[0]))):
        return Const(False)
    shaped = keywords.get("size", NONE) != NONE or (last in _DRAW_BY_SHAPE and bool(args))
    of_arrays = owner.startswith(_MARK) or any(is_array(value) for value in args)
    if last in _MAKE or last in _KEEP_DIMENSIONS or shaped or (of_arrays and last in _ELEMENTWISE | _SAME):
        return array(node)
    if last in _SUM_UP:
        # `np.mean(x, 0)` and `x.mean(0)`: without an axis, the result is a scalar
        first = 0 if not owner.startswith("numpy") or "@" in owner or "()" in owner else 1
        axis = keywords.get("axis", args[first] if len(args) > first else NONE)
        along = isinstance(axis, TupleValue) or (isinstance(axis, Const) and isinstance(axis.value, int))
        return array(node) if along or keywords.get("keepdims") == Const(True) else _value(node)
    return None


def _is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) and value.is_certain and not value.maybe_container


def operator_result(left: Value, right: Value, node: ast.AST) -> Value | None:
    """Return the result of an operator with a NumPy operand; ``None`` if neither operand is from NumPy."""
    if is_array(left) or is_array(right):
        return array(node)
    return _value(node) if any(_of_numpy(getattr(operand, "symbol", "")) for operand in (left, right)) else None


def item(base: Unknown, key: Value, node: ast.Subscript) -> Value | None:
    """Return an item of a NumPy array: ``array[i]`` may be a scalar; return ``None`` if ``base`` is not from NumPy."""
    if not _of_numpy(base.symbol):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    sliced = any(isinstance(one, ast.Slice) for one in parts)
    return array(node) if is_array(base) and (sliced or is_array(key)) else _value(node)
