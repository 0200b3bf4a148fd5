"""Functions of ``random`` that return items of a sequence."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import UNKNOWN, IterableOf, Keywords, Pointer, Tensor, TupleValue, Value
from devfix.analysis.stdlib.containers import ListObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


def _random_items(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``random.sample`` and ``random.choices`` return a list of a sequence's items, ``random.choice`` one item."""
    sequence = args[0] if args else keywords.get("population", keywords.get("seq", UNKNOWN))
    is_known = isinstance(sequence, (Pointer, TupleValue, Tensor, IterableOf))
    item = interp.element(sequence, node) if is_known else UNKNOWN
    return item if name.endswith(".choice") else interp.new(ListObject(default_item=item))


OVERLAYS: dict[str, TransferFunction] = {
    "random.choice": _random_items,
    "random.choices": _random_items,
    "random.sample": _random_items,
}
