"""Batches: samples of datasets, collation, and the origin of each tensor in a batch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.objects import BatchPart, Opaque
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    ClassValue,
    Const,
    Device,
    DeviceValue,
    Function,
    IterableOf,
    Number,
    Origin,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    join,
)
from devfix.analysis.stdlib.containers import DictObject, ListObject
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.analysis.torch.data_sources import source_key
from devfix.syntax.node_caches import node_cache

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "collate",
    "holds_moved_tensors",
    "names_no_device",
    "sample",
    "single_graph",
    "tag_origins",
    "unknown_batch",
]

_MOST_NESTED = 6


def unknown_batch(interp: Interpreter, node: ast.AST) -> Value:
    """Return the element of an unknown iterable that the program treats as a loader."""
    key = source_key(interp, "batch", node)
    return Tensor(CPU, (Origin("batch", key),), is_certain=False, maybe_container=True)


def holds_moved_tensors(interp: Interpreter, value: Value, depth: int = 0) -> bool:
    """Return whether an object holds tensors, or a device, that may not be the CPU: its items may be there."""
    if isinstance(value, Bound):
        return holds_moved_tensors(interp, value.receiver, depth)
    if isinstance(value, (Tensor, DeviceValue)):
        return value.device != CPU
    if isinstance(value, (Union, TupleValue)):
        parts = value.alternatives if isinstance(value, Union) else value.items
        return any(holds_moved_tensors(interp, part, depth) for part in parts)
    if not isinstance(value, Pointer) or depth > _MOST_NESTED:
        return False
    obj = interp.heap_object(value)
    return obj.last_moved_at is not None or any(
        holds_moved_tensors(interp, part, depth + 1) for part in obj.contents if part != value
    )


def names_no_device(interp: Interpreter, value: Value) -> bool:
    """Return whether the code of a function or a dataset of the project moves nothing, and names no device.

    The tensors that it makes of unknown data, ``torch.stack(images)``, are on the CPU then.
    """
    if isinstance(value, Bound):
        return names_no_device(interp, value.receiver) and names_no_device(interp, value.function)
    if isinstance(value, Function):
        return not _names_device(value.node)
    if isinstance(value, Union):
        return all(names_no_device(interp, option) for option in value.alternatives)
    obj = interp.heap_object(value) if isinstance(value, Pointer) else None
    if obj is not None and obj.cls is None and "dataset" in obj.fields:
        return names_no_device(interp, obj.fields["dataset"])  # a part of it
    cls = obj.cls if obj is not None else None
    return cls is not None and not any(_names_device(base.node) for base in mro(cls) if isinstance(base, ClassValue))


@node_cache(2048)
def _names_device(node: ast.AST) -> bool:
    names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names |= {each.arg for each in ast.walk(node) if isinstance(each, (ast.arg, ast.keyword)) and each.arg}
    return any(name in ("to", "cuda") or "device" in name for name in names)


def sample(interp: Interpreter, dataset: Value, node: ast.AST) -> Value:
    """Return one item of a dataset, before collation."""
    match dataset:
        case Union(alternatives):
            return join(sample(interp, option, node) for option in alternatives)
        case Pointer():
            return interp.heap_object(dataset).sample(interp, dataset, node)
        case Tensor():
            return replace(dataset, origins=())
        case IterableOf(element):
            return element
    return UNKNOWN


def single_graph(interp: Interpreter, dataset: Pointer, node: ast.AST) -> Value:
    """Return the graph of a dataset with a single graph: ``dataset[0]``, ``dataset.data``."""
    return tag_origins(interp, sample(interp, dataset, node), source_key(interp, "whole", node), ())


def collate(interp: Interpreter, value: Value, unknown: Device = CPU, depth: int = 0) -> Value:
    """Return a batch as PyTorch's ``default_collate`` does: numbers and arrays become CPU tensors, containers remain.

    ``unknown`` is the device of parts of which nothing is known.
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate
    """
    if depth > 4:
        return UNKNOWN
    match value:
        case Tensor():
            return replace(value, origins=(), maybe_zero_dim=False)
        case Number():
            return Tensor(CPU)
        case Const(constant):
            return IterableOf(Text()) if isinstance(constant, str) else Tensor(CPU) if constant is not None else value
        case Text():
            return IterableOf(Text())
        case TupleValue(items):
            return TupleValue(tuple(collate(interp, item, unknown, depth + 1) for item in items))
        case Union(alternatives):
            return join(collate(interp, option, unknown, depth + 1) for option in alternatives)
        case Pointer():
            obj = interp.heap_object(value)
            if isinstance(obj, (DictObject, ListObject)):
                return interp.new(obj.transformed(lambda _, item: collate(interp, item, unknown, depth + 1)))
            if isinstance(obj, BatchObject):
                return value
            if isinstance(obj, Opaque) and obj.last_moved_at is not None:
                return Tensor(obj.device, is_certain=False, maybe_container=True)
    return Tensor(unknown, is_certain=False, maybe_container=True)


def tag_origins(
    interp: Interpreter,
    value: Value,
    key: int,
    item: tuple[str, ...],
    unknown: Device = CPU,
    made: Device = UNKNOWN_DEVICE,
) -> Value:
    """Return a batch in which every CPU tensor has its path as the origin; ``key`` identifies the batch.

    ``unknown`` is the device of parts of which nothing is known, ``made`` that of tensors which are made of such.
    """
    return _Tagging(interp, key, unknown, made).tagged(value, item)


class _Tagging:
    """The copy of one batch; a part that is reached on several paths is copied once, with the first path."""

    def __init__(self, interp: Interpreter, key: int, unknown: Device, made: Device) -> None:
        self._interp = interp
        self._key = key
        self._unknown = unknown
        self._made = made
        self._copies: dict[int, Pointer] = {}

    def tagged(self, value: Value, item: tuple[str, ...]) -> Value:
        """Return the copy of a part at a path."""
        if len(item) > _MOST_NESTED:
            return value  # a recursive batch
        match value:
            case Tensor(device=device) if CPU in (device, self._made if not device.known else device):
                return replace(value, device=CPU, origins=(Origin("batch", self._key, item),))
            case TupleValue(items):
                return TupleValue(tuple(self.tagged(part, (*item, str(i))) for i, part in enumerate(items)))
            case Union(alternatives):
                return join(self.tagged(option, item) for option in alternatives)
            case IterableOf(inner) if not isinstance(inner, Text):
                return IterableOf(self.tagged(inner, (*item, "*")))
            case Unknown():
                origins = (Origin("batch", self._key, item),) if self._unknown == CPU else ()
                return Tensor(self._unknown, origins, is_certain=False, maybe_container=True)
            case Pointer():
                return self._copy(value, item)
        return value

    def _copy(self, pointer: Pointer, item: tuple[str, ...]) -> Pointer:
        if pointer.id not in self._copies:
            obj = self._interp.heap_object(pointer)
            if not isinstance(obj, BatchPart):
                return pointer
            copy = self._copies[pointer.id] = self._interp.new(obj)  # an object may hold itself
            part = obj.in_batch((self._key, item), lambda name, each: self.tagged(each, (*item, name)))
            if part is None:
                self._copies[pointer.id] = pointer
            else:
                self._interp.now.write(copy.id, part)
        return self._copies[pointer.id]
