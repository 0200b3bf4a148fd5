"""Device placement, shared by the frameworks: moves of modules and batches, and calls of hooks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Module, Opaque, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import UNKNOWN_DEVICE, Device, Pointer, Tensor, TupleValue, Union, Value, join
from devfix.analysis.overlays.framework import FrameworkObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import batch_objects, module_moves, module_tree
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.analysis.torch.data import LoaderObject
from devfix.analysis.torch.optimizers import OptimizerObject
from devfix.analysis.torch.schedulers import SchedulerObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_hook", "prepare"]


def prepare(interp: Interpreter, value: Value, device: Device, node: ast.AST) -> Value:
    """Return a value prepared for ``device``: a module moved in place, a loader whose batches are moved, a moved batch.

    Optimizers and schedulers are returned unchanged.
    """
    if isinstance(value, Union):
        return join(prepare(interp, option, device, node) for option in value.alternatives)
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if isinstance(obj, Module) or (isinstance(obj, Opaque) and obj.constructed):
            module_tree.assume_module(interp, value)
            module_moves.place(interp, value, device, node)
            return value
        if isinstance(obj, LoaderObject) or (isinstance(obj, InstanceObject) and obj.cls is not None):
            return interp.new(replace(obj, batch_device=device))
        if isinstance(obj, (OptimizerObject, SchedulerObject, FrameworkObject)):
            return value
    if isinstance(value, (Tensor, TupleValue)) or object_at(interp, value, BatchObject) is not None:
        return batch_objects.move_batch(interp, value, device)
    return interp.new_opaque("prepared", batch_device=UNKNOWN_DEVICE)


def call_hook(interp: Interpreter, function: Value, args: list[Value], node: ast.Call) -> None:
    """Call a hook that the framework calls; if it never returns, continue from the state before the call."""
    before = interp.now.fork()
    try:
        interp.call(function, args, {}, node)
    except Unreachable:
        interp.state = before
