"""Overlays: frameworks that place modules and batches themselves, one module per framework.

Input: calls of framework functions, by full name, and of methods of framework objects.  Output: abstract values, on the
device that the framework chooses.

May import :mod:`devfix.analysis.domain`, :mod:`devfix.analysis.torch`, and the device arguments in
:mod:`devfix.analysis.transfer`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import Keywords, Pointer, Value
from devfix.analysis.overlays import accelerate, deepspeed, graphs, ignite, lightning, transformers_

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "framework_method"]

OVERLAYS: dict[str, TransferFunction] = {
    **accelerate.OVERLAYS,
    **deepspeed.OVERLAYS,
    **graphs.OVERLAYS,
    **ignite.OVERLAYS,
    **lightning.OVERLAYS,
    **transformers_.OVERLAYS,
}

_Method = Callable[["Interpreter", Pointer, str, list[Value], Keywords, ast.Call], "Value | None"]

#: Methods of framework objects, by their class; ``None`` as a result means: not a method of the class.
_METHODS: dict[str, _Method] = {
    "ignite.distributed.Parallel": ignite.parallel_method,
    "ignite.engine.Engine": ignite.engine_method,
    "lightning.Trainer": lightning.trainer_method,
}


def framework_method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call a method of a framework object (an ``Accelerator``, a ``Trainer``, an ``Engine``)."""
    own = _METHODS.get(interp.heap_object(pointer).name)
    result = own(interp, pointer, name, args, keywords, node) if own is not None else None
    return accelerate.accelerator_method(interp, pointer, name, args, keywords, node) if result is None else result
