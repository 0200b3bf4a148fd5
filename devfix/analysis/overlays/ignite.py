"""PyTorch-Ignite: engines that call a step for each batch, and ``idist.Parallel``.

https://docs.pytorch.org/ignite/engine.html, https://docs.pytorch.org/ignite/distributed.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import UNKNOWN, HeapObject, Keywords, Number, Pointer, Value

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "engine_method", "parallel_method"]


def _engine(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``Engine(process_function)``."""
    step = args[0] if args else keywords.get("process_function", UNKNOWN)
    return interp.new(HeapObject("framework", name, fields={"step": step}, allocated_at=interp.point(node)))


def engine_method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value | None:
    """Call ``Engine.run``: the step gets the engine and a batch, which the engine does not move."""
    if name != "run":
        return None
    loader = args[0] if args else keywords.get("data", UNKNOWN)
    return interp.call(interp.heap_object(pointer).fields["step"], [pointer, interp.element(loader, node)], {}, node)


def _parallel(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``idist.Parallel(backend)``."""
    return interp.new(HeapObject("framework", name, allocated_at=interp.point(node)))


def parallel_method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value | None:
    """Call ``Parallel.run``: the function gets the local rank and its arguments."""
    if name != "run" or not args:
        return None
    return interp.call(args[0], [Number("local_rank"), *args[1:]], keywords, node)


OVERLAYS: dict[str, TransferFunction] = {
    "ignite.distributed.Parallel": _parallel,
    "ignite.engine.Engine": _engine,
}
