"""Objects of other libraries that hold tensors and move as a whole: graphs of PyG and DGL, encodings of tokenizers.

A bundle's ``rest`` stands for every tensor in it; what a program writes into one is in its ``fields``.
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
from devfix.analysis.move_observations import Transfer
from devfix.analysis.stdlib.containers import container_method
from devfix.analysis.torch.data_sources import source_key
from devfix.analysis.transfer.device_arguments import to_targets

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["attribute", "bundle", "delivered", "method", "restamped", "taken_in"]

_MOVES = {"cuda": ACCELERATOR, "cpu": CPU, "xpu": ACCELERATOR, "npu": ACCELERATOR, "mps": ACCELERATOR}
_SELF = frozenset("contiguous coalesce pin_memory share_memory_ detach requires_grad_".split())
_COUNTS = ("batch_size", "num_", "number_of_", "is_", "has_", "in_degrees", "out_degrees")


def bundle(interp: Interpreter, name: str, node: ast.AST, kind: str = "whole") -> Pointer:
    """A bundle on the CPU, whose tensors have the origin of the whole; ``kind`` says what gave it (see ``DataSource``)."""
    key = source_key(interp, kind, node)
    held = Tensor(CPU, (Origin("batch", key),), maybe_container=True)
    info = (("batch", (key, ())),)
    return interp.new(HeapObject("bundle", name, default_item=held, allocated_at=interp.point(node), info=info))


def restamped(obj: HeapObject, key: int, item: tuple[str, ...]) -> HeapObject:
    """The bundle as an item of a batch."""
    held = obj.default_item
    if isinstance(held, Tensor) and held.device == CPU:
        held = replace(held, origins=(Origin("batch", key, item),))
    info = (*(pair for pair in obj.info if pair[0] != "batch"), ("batch", (key, item)))
    return replace(obj, default_item=held, info=info)


def attribute(interp: Interpreter, pointer: Pointer, name: str) -> Value | None:
    """``data.x``: a tensor; ``None`` for a method."""
    obj = interp.heap_object(pointer)
    if name.startswith(_COUNTS):
        return Number()
    if name in _METHODS or name in _SELF or name in _MOVES:
        return None
    held = obj.fields.get(name.removesuffix("_dict"), obj.default_item)  # `x_dict` has the `x` of every type
    if not isinstance(held, Tensor):
        return UNKNOWN
    origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, f".{name}")) for origin in held.origins)
    return replace(held, origins=origins)


def taken_in(obj: HeapObject, name: str, value: Tensor) -> Tensor:
    """A tensor of the CPU that is written into a bundle on the CPU is one of its own: it moves with the whole."""
    held = obj.default_item
    if not isinstance(held, Tensor) or held.device != CPU or value.device != CPU or not held.origins:
        return value
    origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, f".{name}")) for origin in held.origins)
    return replace(value, origins=origins)


_METHODS = frozenset("to clone copy items keys values get pop update to_dict convert_to_tensors".split())


def method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """A method of a bundle: moves, copies, and those of a dictionary."""
    obj = interp.heap_object(pointer)
    if name in ("to", *_MOVES) and any(
        isinstance(option, Const) for value in args[1:] for option in alternatives(value)
    ):
        return _moved_in_part(interp, pointer, to_targets(interp, args, keywords), args[1:])
    if name == "to" or name in _MOVES:
        return _moved(interp, pointer, [_MOVES[name]] if name in _MOVES else to_targets(interp, args, keywords), node)
    if name in ("clone", "copy"):
        return interp.new(obj)
    if name in _SELF:
        return pointer
    if name in ("items", "keys", "values", "get", "pop", "update"):
        return container_method(interp, pointer, name, args, keywords, node)
    return UNKNOWN


def _moved(interp: Interpreter, pointer: Pointer, devices: list[Device | None], node: ast.Call) -> Value:
    """Graphs of DGL are moved to new ones, everything else in place.

    https://pytorch-geometric.readthedocs.io/en/latest/modules/data.html,
    https://www.dgl.ai/dgl_docs/generated/dgl.DGLGraph.to.html
    """
    obj = interp.heap_object(pointer)
    known = [device for device in devices if device is not None]
    if not known:
        return pointer
    device = known[0] if len(set(devices)) == 1 else UNKNOWN_DEVICE
    held = obj.default_item
    for origin in held.origins if isinstance(held, Tensor) and held.device == CPU else ():
        interp.observations.transfers.append(Transfer(origin, interp.point(node, with_state=True), node, device.kind))
    target = interp.new(obj) if obj.name.startswith("dgl.") else pointer
    _put(interp, target, device)
    return target


def _moved_in_part(interp: Interpreter, pointer: Pointer, devices: list[Device | None], names: list[Value]) -> Value:
    """``data.to(device, "x", "y")``: the tensors of these names move, the others stay."""
    device = devices[0] if len(devices) == 1 and devices[0] is not None else UNKNOWN_DEVICE
    for name in names:
        if isinstance(name, Const) and isinstance(name.value, str):
            interp.now.set_field(pointer, name.value, Tensor(device, maybe_container=True))
    interp.now.update(pointer, info=(*interp.heap_object(pointer).info, ("in-part", True)))
    return pointer


def _put(interp: Interpreter, pointer: Pointer, device: Device) -> None:
    obj = interp.heap_object(pointer)
    fields = {name: delivered(interp, value, device) for name, value in obj.fields.items()}
    rest = delivered(interp, obj.default_item, device) if obj.default_item is not None else None
    interp.now.update(
        pointer, fields=fields, default_item=rest, info=tuple(pair for pair in obj.info if pair[0] != "batch")
    )


def delivered(interp: Interpreter, value: Value, device: Device = ACCELERATOR) -> Value:
    """A batch as it arrives when something has brought all its tensors to ``device``."""
    match value:
        case Tensor():
            return replace(value, device=device, origins=())
        case TupleValue(items):
            return TupleValue(tuple(delivered(interp, item, device) for item in items))
        case Union(alternatives):
            return join(delivered(interp, option, device) for option in alternatives)
        case IterableOf(inner) if not isinstance(inner, Text):
            return IterableOf(delivered(interp, inner, device))
        case Pointer() if interp.heap_object(value).kind in ("bundle", "dict", "list"):
            copy = interp.new(interp.heap_object(value))
            _put(interp, copy, device)
            return copy
    return value
