"""Batch objects: objects of other libraries that contain tensors and move as a whole.

These are graphs of PyG and DGL, and ``BatchEncoding`` of tokenizers.  Their heap object's ``default_item`` represents
every tensor; attributes and items that the program assigns are in ``fields``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis import scenarios
from devfix.analysis.domain.joins import EITHER
from devfix.analysis.domain.objects import BatchPart, HeapObject
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Builtin,
    Const,
    Device,
    IterableOf,
    Keywords,
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
from devfix.analysis.stdlib.containers import container_method
from devfix.analysis.torch.data_sources import note_transfer, source_key
from devfix.analysis.transfer.device_arguments import to_targets
from devfix.models.names import names_number

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["BatchObject", "make", "move_batch"]

_MOVES = {"cuda": ACCELERATOR, "cpu": CPU, "xpu": ACCELERATOR, "npu": ACCELERATOR, "mps": ACCELERATOR}
_COPIES = frozenset("clone copy int long formats local_var".split())  # of DGL's, the others: new graphs
_RETURNS_SELF = frozenset("contiguous coalesce pin_memory share_memory_ detach requires_grad_".split())
_METHODS = _COPIES | frozenset("to items keys values get pop update to_dict convert_to_tensors".split())
_OTHER_BUILTINS = frozenset({"builtins.list", "builtins.tuple", "builtins.str"})


@dataclass(frozen=True)
class BatchObject(BatchPart):
    """An object that contains tensors and moves as a whole.

    Attributes:
        partly_moved: whether only some of its tensors were moved.

    """

    partly_moved: bool = field(default=False, metadata=EITHER)

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether the object is an instance of a class: it is no list, tuple or text."""
        return False if name in _OTHER_BUILTINS else super().is_a(cls, name)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: moves, copies, and methods of a dictionary."""
        if name in ("to", *_MOVES) and any(
            isinstance(option, Const) for value in args[1:] for option in alternatives(value)
        ):
            return _move_named(interp, pointer, to_targets(interp, args, keywords), args[1:])
        if name == "to" or name in _MOVES:
            devices: list[Device | None] = [_MOVES[name]] if name in _MOVES else to_targets(interp, args, keywords)
            return _move(interp, pointer, devices, node)
        if name in _COPIES:
            return interp.new(self)
        if name in _RETURNS_SELF:
            return pointer
        if name in ("items", "keys", "values", "get", "pop", "update"):
            return container_method(interp, pointer, name, args, keywords, node)
        return UNKNOWN

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return the tensor or number ``data.x``, or a method."""
        if names_number(name):
            return Number()
        if name in _METHODS or name in _RETURNS_SELF or name in _MOVES:
            return Builtin(pointer, name)
        tensors = self.fields.get(name.removesuffix("_dict"), self.default_item)  # `x_dict` has `x` of every node type
        return replace(tensors, origins=_of_attribute(tensors, name)) if isinstance(tensors, Tensor) else UNKNOWN

    def adopt(self, name: str, value: Value) -> Value:
        """Return a tensor that is assigned to an attribute: if both are on the CPU, it moves with the object."""
        tensors = self.default_item
        if not isinstance(value, Tensor) or not isinstance(tensors, Tensor):
            return value
        if tensors.device != CPU or value.device != CPU or not tensors.origins:
            return value
        return replace(value, origins=_of_attribute(tensors, name))

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return an item: a partly moved store of a graph is on an unknown device."""
        if self.partly_moved:
            return Tensor(UNKNOWN_DEVICE, maybe_container=True)
        return super().item(interp, pointer, name, node)

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return the object itself."""
        return pointer

    def in_batch(self, position: tuple[int, tuple[str, ...]], tag: Callable[[str, Value], Value]) -> BatchPart | None:
        """Return the object with its position in a batch as the origin of its tensors."""
        tensors = self.default_item
        if isinstance(tensors, Tensor) and tensors.device == CPU:
            tensors = replace(tensors, origins=(Origin("batch", *position),))
        return replace(self, default_item=tensors, position=position)

    def moved(self, move: Callable[[Value], Value]) -> HeapObject:
        """Return an object of moved tensors."""
        return replace(self.transformed(lambda _, item: move(item)), position=None)

    def escape(self, interp: Interpreter, pointer: Pointer, depth: int) -> None:
        """Make the device of the tensors unknown."""
        interp.now.update(pointer, default_item=Tensor(UNKNOWN_DEVICE, maybe_container=True))

    def tensors(self) -> list[Value]:
        """Return the contents."""
        return self.contents


def _of_attribute(tensors: Tensor, name: str) -> tuple[Origin, ...]:
    return tuple(Origin(origin.kind, origin.site_id, (*origin.path, f".{name}")) for origin in tensors.origins)


def make(interp: Interpreter, name: str, node: ast.AST, kind: str = "whole", device: Device = CPU) -> Pointer:
    """Create a batch object, usually on the CPU; its tensors have it as their origin.

    ``kind`` is the kind of its :class:`~devfix.analysis.observations.DataSource`.
    """
    key = source_key(interp, kind, node)
    tensors = Tensor(device, (Origin("batch", key),), maybe_container=True)
    return interp.new(BatchObject(name, default_item=tensors, allocated_at=interp.point(node), position=(key, ())))


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
        note_transfer(interp, origin, node, device)
    for target in known:
        scenarios.record_placement(interp, node, target, tensors.device if isinstance(tensors, Tensor) else None)
    origins = scenarios.origins_after_move(interp, node, device)
    moved = obj.moved(_Moving(interp, device, origins).moved)
    if obj.name.startswith("dgl."):
        return interp.new(moved)
    interp.now.write(pointer.id, moved)
    return pointer


def _move_named(interp: Interpreter, pointer: Pointer, devices: list[Device | None], names: list[Value]) -> Value:
    """``data.to(device, "x", "y")``: move the named tensors only."""
    device = devices[0] if len(devices) == 1 and devices[0] is not None else UNKNOWN_DEVICE
    for name in names:
        if isinstance(name, Const) and isinstance(name.value, str):
            interp.now.set_field(pointer, name.value, Tensor(device, maybe_container=True))
    interp.now.update(pointer, partly_moved=True)
    return pointer


def move_batch(
    interp: Interpreter, value: Value, device: Device = ACCELERATOR, origins: tuple[Origin, ...] = ()
) -> Value:
    """Return a batch with all its tensors moved to ``device``; ``origins`` says what moved them."""
    return _Moving(interp, device, origins).moved(value)


class _Moving:
    """The move of one batch; an object that several parts hold is moved once."""

    def __init__(self, interp: Interpreter, device: Device, origins: tuple[Origin, ...]) -> None:
        self._interp = interp
        self._device = device
        self._origins = origins
        self._copies: dict[int, Pointer] = {}

    def moved(self, value: Value) -> Value:
        """Return a part after the move."""
        match value:
            case Tensor():
                return replace(value, device=self._device, origins=self._origins)
            case TupleValue(items):
                return TupleValue(tuple(map(self.moved, items)))
            case Union(alternatives):
                return join(map(self.moved, alternatives))
            case IterableOf(inner) if not isinstance(inner, Text):
                return IterableOf(self.moved(inner))
            case Pointer():
                return self._copy(value)
        return value

    def _copy(self, pointer: Pointer) -> Pointer:
        if pointer.id not in self._copies:
            obj = self._interp.heap_object(pointer)
            copy = self._copies[pointer.id] = self._interp.new(obj)  # an object may hold itself
            moved = obj.moved(self.moved)
            if moved is obj:
                self._copies[pointer.id] = pointer
            else:
                self._interp.now.write(copy.id, moved)
        return self._copies[pointer.id]
