"""Device placement, shared by the frameworks: moves of modules and batches, and calls of hooks."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import UNKNOWN_DEVICE, Device, HeapObject, Pointer, Tensor, TupleValue, Value
from devfix.analysis.torch import batch_objects, module_tree, modules

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_hook", "place_module", "prepare"]


def prepare(interp: Interpreter, value: Value, device: Device, node: ast.AST) -> Value:
    """Return a value prepared for ``device``: a module moved in place, a loader whose batches are moved, a moved batch.

    Optimizers and schedulers are returned unchanged.
    """
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if obj.kind == "opaque" and obj.get("constructed"):
            modules.assume_module(interp, value)
            obj = interp.heap_object(value)
        if obj.kind == "module":
            place_module(interp, value, device, node)
            return value
        if obj.kind == "loader" or (obj.kind == "instance" and obj.cls is not None):
            return interp.new(replace(obj, info=(*obj.info, ("moves-batches-to", device))))
        if obj.kind in ("optimizer", "scheduler", "framework"):
            return value
    if isinstance(value, (Tensor, TupleValue)) or (
        isinstance(value, Pointer) and interp.heap_object(value).kind == "batch-object"
    ):
        return batch_objects.move_batch(interp, value, device)
    return interp.new(
        HeapObject(
            "opaque", "prepared", devices=frozenset({UNKNOWN_DEVICE}), info=(("moves-batches-to", UNKNOWN_DEVICE),)
        )
    )


def place_module(interp: Interpreter, pointer: Pointer, device: Device, node: ast.AST) -> None:
    """Move a module to ``device`` without effect on optimizers, which the framework updates itself."""
    point = interp.point(node)
    for _, part in list(module_tree.named_modules(interp, pointer)):
        obj = interp.heap_object(part)
        fields = {name: modules.moved_field(value, device) for name, value in obj.fields.items()}
        interp.now.write(
            part.id, replace(obj, fields=fields, devices=frozenset({device}), last_moved_at=point, attached_at=None)
        )


def call_hook(interp: Interpreter, function: Value, args: list[Value], node: ast.Call) -> None:
    """Call a hook that the framework calls; if it never returns, continue from the state before the call."""
    before = interp.now.fork()
    try:
        interp.call(function, args, {}, node)
    except Unreachable:
        interp.state = before
