"""Sequences of the standard library: deques, named tuples, and functions of ``random``."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    UNKNOWN,
    ClassValue,
    Const,
    External,
    IterableOf,
    Keywords,
    Pointer,
    Tensor,
    TupleValue,
    Value,
)
from devfix.analysis.stdlib import builtins
from devfix.analysis.stdlib.containers import ListObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["OVERLAYS"]


def _sequence(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtins.call(interp, "list", args, keywords, node)


def _named_tuple(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``namedtuple("Step", "state action")``: return a class like ``class Step(NamedTuple)``."""
    assert interp.activation is not None
    names = _field_names(interp, args[1] if len(args) > 1 else keywords.get("field_names", UNKNOWN), node)
    called = args[0].value if args and isinstance(args[0], Const) else None
    if not names or not isinstance(called, str) or not _is_name(called):
        return UNKNOWN
    fields = "".join(f"    {field}: object\n" for field in names)
    stmt = ast.parse(f"class {called}(NamedTuple):\n{fields}").body[0]
    assert isinstance(stmt, ast.ClassDef)
    for inner in ast.walk(stmt):
        if hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return ClassValue(stmt, interp.activation.module, (External("typing.NamedTuple"),), interp.new_env())


def _field_names(interp: Interpreter, sequence: Value, node: ast.Call) -> list[str]:
    """Return the field names of ``"state action"``, ``"state, action"``, ``["state"]`` or ``[("state", Tensor)]``."""
    if isinstance(sequence, Const) and isinstance(sequence.value, str):
        found: list[object] = [*sequence.value.replace(",", " ").split()]
    else:
        items = interp.elements(sequence, node) or []
        first = [item.items[0] if isinstance(item, TupleValue) and item.items else item for item in items]
        found = [item.value if isinstance(item, Const) else None for item in first]
    names = [name for name in found if isinstance(name, str) and _is_name(name)]
    return names if len(names) == len(found) else []


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _random_items(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``random.sample`` and ``random.choices`` return a list of a sequence's items, ``random.choice`` one item."""
    sequence = args[0] if args else keywords.get("population", keywords.get("seq", UNKNOWN))
    is_known = isinstance(sequence, (Pointer, TupleValue, Tensor, IterableOf))
    item = interp.element(sequence, node) if is_known else UNKNOWN
    return item if name.endswith(".choice") else interp.new(ListObject(default_item=item))


OVERLAYS: dict[str, Callable[[Interpreter, str, list[Value], Keywords, ast.Call], Value]] = {
    "collections.deque": _sequence,
    "collections.namedtuple": _named_tuple,
    "random.choice": _random_items,
    "random.choices": _random_items,
    "random.sample": _random_items,
}
