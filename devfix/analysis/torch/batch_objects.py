"""Batch objects: objects of other libraries that contain tensors and move as a whole.

These are graphs of PyG and DGL, and ``BatchEncoding`` of tokenizers.  Their heap object's ``default_item`` represents
every tensor; attributes and items that the program assigns are in ``fields``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    HeapObject,
    IterableOf,
    Number,
    Origin,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import Transfer
from devfix.analysis.stdlib.containers import container_method
from devfix.analysis.torch.data_sources import source_key
from devfix.analysis.transfer.device_arguments import to_targets

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["adopt", "attribute", "make", "method", "move_batch", "with_origin"]

_MOVES = {"cuda": ACCELERATOR, "cpu": CPU, "xpu": ACCELERATOR, "npu": ACCELERATOR, "mps": ACCELERATOR}
_RETURNS_SELF = frozenset("contiguous coalesce pin_memory share_memory_ detach requires_grad_".split())
_NUMBER_PREFIXES = ("batch_size", "num_", "number_of_", "is_", "has_", "in_degrees", "out_degrees")


def make(interp: Interpreter, name: str, node: ast.AST, kind: str = "whole") -> Pointer:
    """Create a batch object on the CPU; its tensors have it as their origin.

    ``kind`` is the kind of its :class:`~devfix.analysis.observations.DataSource`.
    """
    key = source_key(interp, kind, node)
    tensors = Tensor(CPU, (Origin("batch", key),), maybe_container=True)
    info = (("batch", (key, ())),)
    return interp.new(
        HeapObject("batch-object", name, default_item=tensors, allocated_at=interp.point(node), info=info)
    )


def with_origin(obj: HeapObject, key: int, item: tuple[str, ...]) -> HeapObject:
    """Return a batch object with its position in a batch as the origin."""
    tensors = obj.default_item
    if isinstance(tensors, Tensor) and tensors.device == CPU:
        tensors = replace(tensors, origins=(Origin("batch", key, item),))
    info = (*(pair for pair in obj.info if pair[0] != "batch"), ("batch", (key, item)))
    return replace(obj, default_item=tensors, info=info)


def attribute(interp: Interpreter, pointer: Pointer, name: str) -> Value | None:
    """Return the tensor or number ``data.x``; ``None`` if ``name`` is a method."""
    obj = interp.heap_object(pointer)
    if name.startswith(_NUMBER_PREFIXES):
        return Number()
    if name in _METHODS or name in _RETURNS_SELF or name in _MOVES:
        return None
    tensors = obj.fields.get(name.removesuffix("_dict"), obj.default_item)  # `x_dict` contains `x` of every node type
    if not isinstance(tensors, Tensor):
        return UNKNOWN
    origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, f".{name}")) for origin in tensors.origins)
    return replace(tensors, origins=origins)


def adopt(obj: HeapObject, name: str, value: Tensor) -> Tensor:
    """Return a tensor that is assigned to an attribute: if both are on the CPU, it moves with the batch object."""
    tensors = obj.default_item
    if not isinstance(tensors, Tensor) or tensors.device != CPU or value.device != CPU or not tensors.origins:
        return value
    origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, f".{name}")) for origin in tensors.origins)
    return replace(value, origins=origins)


_METHODS = frozenset("to clone copy items keys values get pop update to_dict convert_to_tensors".split())


def method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call a method of a batch object: moves, copies, and methods of a dictionary."""
    obj = interp.heap_object(pointer)
    if name in ("to", *_MOVES) and any(
        isinstance(option, Const) for value in args[1:] for option in alternatives(value)
    ):
        return _move_named(interp, pointer, to_targets(interp, args, keywords), args[1:])
    if name == "to" or name in _MOVES:
        return _move(interp, pointer, [_MOVES[name]] if name in _MOVES else to_targets(interp, args, keywords), node)
    if name in ("clone", "copy"):
        return interp.new(obj)
    if name in _RETURNS_SELF:
        return pointer
    if name in ("items", "keys", "values", "get", "pop", "update"):
        return container_method(interp, pointer, name, args, keywords, node)
    return UNKNOWN


def _move(interp: Interpreter, pointer: Pointer, devices: list[Device | None], node: ast.Call) -> Value:
    """Move a batch object: DGL returns a new graph, everything else moves in place.

    https://pytorch-geometric.readthedocs.io/en/latest/modules/data.html,
    https://www.dgl.ai/dgl_docs/generated/dgl.DGLGraph.to.html
    """
    obj = interp.heap_object(pointer)
    known = [device for device in devices if device is not None]
    if not known:
        return pointer
    device = known[0] if len(set(devices)) == 1 else UNKNOWN_DEVICE
    tensors = obj.default_item
    for origin in tensors.origins if isinstance(tensors, Tensor) and tensors.device == CPU else ():
        interp.observations.transfers.append(Transfer(origin, interp.point(node, with_state=True), node, device.kind))
    target = interp.new(obj) if obj.name.startswith("dgl.") else pointer
    _set_device(interp, target, device)
    return target


def _move_named(interp: Interpreter, pointer: Pointer, devices: list[Device | None], names: list[Value]) -> Value:
    """``data.to(device, "x", "y")``: move the named tensors only."""
    device = devices[0] if len(devices) == 1 and devices[0] is not None else UNKNOWN_DEVICE
    for name in names:
        if isinstance(name, Const) and isinstance(name.value, str):
            interp.now.set_field(pointer, name.value, Tensor(device, maybe_container=True))
    interp.now.update(pointer, info=(*interp.heap_object(pointer).info, ("partly-moved", True)))
    return pointer


def _set_device(interp: Interpreter, pointer: Pointer, device: Device) -> None:
    obj = interp.heap_object(pointer)
    fields = {name: move_batch(interp, value, device) for name, value in obj.fields.items()}
    default_item = move_batch(interp, obj.default_item, device) if obj.default_item is not None else None
    interp.now.update(
        pointer, fields=fields, default_item=default_item, info=tuple(pair for pair in obj.info if pair[0] != "batch")
    )


def move_batch(interp: Interpreter, value: Value, device: Device = ACCELERATOR) -> Value:
    """Return a batch with all its tensors moved to ``device``, without origins."""
    match value:
        case Tensor():
            return replace(value, device=device, origins=())
        case TupleValue(items):
            return TupleValue(tuple(move_batch(interp, item, device) for item in items))
        case Union(alternatives):
            return join(move_batch(interp, option, device) for option in alternatives)
        case IterableOf(inner) if not isinstance(inner, Text):
            return IterableOf(move_batch(interp, inner, device))
        case Pointer() if interp.heap_object(value).kind in ("batch-object", "dict", "list"):
            copy = interp.new(interp.heap_object(value))
            _set_device(interp, copy, device)
            return copy
    return value
