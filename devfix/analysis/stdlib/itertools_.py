"""Iterators of ``itertools``: what their elements are made of."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    UNKNOWN,
    Const,
    IterableOf,
    Keywords,
    Number,
    TupleValue,
    Value,
    join,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_MOST_TOGETHER = 8  # elements of one combination


def _accumulated(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``accumulate(items, function)``: the first item, and what the function makes of it and further ones."""
    if not args:
        return UNKNOWN
    item = interp.element(args[0], node)
    first = keywords.get("initial", item)
    function = args[1] if len(args) > 1 else keywords.get("func")
    return IterableOf(join((first, item if function is None else interp.call(function, [first, item], {}, node))))


def _batches(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(IterableOf(interp.element(args[0], node))) if args else UNKNOWN


def _combinations(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``combinations(items, 2)``: pairs, if the number is known."""
    if not args:
        return UNKNOWN
    item = interp.element(args[0], node)
    number = args[1] if len(args) > 1 else keywords.get("r", UNKNOWN)
    count = number.value if isinstance(number, Const) and isinstance(number.value, int) else 0
    return IterableOf(TupleValue((item,) * count) if 0 < count <= _MOST_TOGETHER else IterableOf(item))


def _copies(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    number = args[1] if len(args) > 1 else keywords.get("n", Const(2))
    count = number.value if isinstance(number, Const) and isinstance(number.value, int) else 0
    if not args:
        return UNKNOWN
    return TupleValue((args[0],) * count) if 0 < count <= _MOST_TOGETHER else IterableOf(args[0])


def _counted(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(Number())


def _groups(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(TupleValue((UNKNOWN, IterableOf(interp.element(args[0], node))))) if args else UNKNOWN


def _mapped(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``starmap(function, rows)``: the items of a row are the arguments."""
    if len(args) < 2:
        return UNKNOWN
    row = interp.element(args[1], node)
    given = list(row.items) if isinstance(row, TupleValue) else [interp.element(row, node)]
    return IterableOf(interp.call(args[0], given, {}, node))


def _pairs(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(TupleValue((interp.element(args[0], node),) * 2)) if args else UNKNOWN


def _product(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    items = tuple(interp.element(each, node) for each in args)
    is_plain = "repeat" not in keywords and not any(isinstance(each, ast.Starred) for each in node.args)
    return IterableOf(TupleValue(items) if is_plain else IterableOf(join(items)))


def _repeated(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(args[0]) if args else UNKNOWN


def _selected(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``takewhile(predicate, items)`` and its like return some of the items."""
    return IterableOf(interp.element(args[1], node)) if len(args) > 1 else UNKNOWN


OVERLAYS: dict[str, TransferFunction] = {
    "itertools.accumulate": _accumulated,
    "itertools.batched": _batches,
    "itertools.combinations": _combinations,
    "itertools.combinations_with_replacement": _combinations,
    "itertools.count": _counted,
    "itertools.dropwhile": _selected,
    "itertools.filterfalse": _selected,
    "itertools.groupby": _groups,
    "itertools.pairwise": _pairs,
    "itertools.permutations": _combinations,
    "itertools.product": _product,
    "itertools.repeat": _repeated,
    "itertools.starmap": _mapped,
    "itertools.takewhile": _selected,
    "itertools.tee": _copies,
}
