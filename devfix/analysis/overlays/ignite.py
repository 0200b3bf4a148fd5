"""PyTorch-Ignite: engines that call a step for each batch, and ``idist.Parallel``.

https://docs.pytorch.org/ignite/engine.html, https://docs.pytorch.org/ignite/distributed.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import UNKNOWN, Keywords, Number, Pointer, Value
from devfix.analysis.overlays.framework import FrameworkObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


@dataclass(frozen=True)
class EngineObject(FrameworkObject):
    """An ``Engine``: its step gets the engine and a batch, which the engine does not move."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``run`` calls the step."""
        if name != "run":
            return super().method(interp, pointer, name, args, keywords, node)
        loader = args[0] if args else keywords.get("data", UNKNOWN)
        return interp.call(self.fields["step"], [pointer, interp.element(loader, node)], {}, node)


@dataclass(frozen=True)
class ParallelObject(FrameworkObject):
    """An ``idist.Parallel``."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``run`` calls its first argument with the local rank and the other arguments."""
        if name != "run" or not args:
            return super().method(interp, pointer, name, args, keywords, node)
        return interp.call(args[0], [Number("local_rank"), *args[1:]], keywords, node)


def _engine(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``Engine(process_function)``."""
    step = args[0] if args else keywords.get("process_function", UNKNOWN)
    return interp.new(EngineObject(name, fields={"step": step}, allocated_at=interp.point(node)))


def _parallel(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``idist.Parallel(backend)``."""
    return interp.new(ParallelObject(name, allocated_at=interp.point(node)))


OVERLAYS: dict[str, TransferFunction] = {
    "ignite.distributed.Parallel": _parallel,
    "ignite.engine.Engine": _engine,
}
