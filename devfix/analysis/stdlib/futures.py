"""Results that come later: of executors and pools, whose functions are called where they are submitted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import NONE, UNKNOWN, Keywords, Pointer, Value

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["FutureObject", "future"]

_RESULT = "*result"  # a field that is no attribute


@dataclass(frozen=True)
class FutureObject(HeapObject):
    """What ``executor.submit()`` and ``pool.apply_async()`` return; the result is a field."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``result()`` of an executor, ``get()`` of a pool."""
        if name in ("result", "get"):
            return self.fields[_RESULT]
        if name == "add_done_callback" and args:
            interp.call(args[0], [pointer], {}, node)
            return NONE
        return UNKNOWN


def future(interp: Interpreter, result: Value) -> Pointer:
    """Return a new object whose result comes later."""
    return interp.new(FutureObject("future", fields={_RESULT: result}))
