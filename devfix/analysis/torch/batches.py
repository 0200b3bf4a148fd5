"""Batches: samples of datasets, collation, and the origin of each tensor in a batch."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import host_access
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Const,
    HeapObject,
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
from devfix.analysis.torch import batch_objects, rng
from devfix.analysis.torch.data_sources import source_key

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["collate", "implicit_call", "next_batch", "sample", "single_graph", "tag_origins", "unknown_batch"]

_MOST_NESTED = 6


def implicit_call(node: ast.AST) -> ast.Call:
    """Return a call expression for a call that iteration makes implicitly at ``node``."""
    return ast.copy_location(ast.Call(ast.Name("iterated", ast.Load()), [], []), node)


def unknown_batch(interp: Interpreter, node: ast.AST) -> Value:
    """Return the element of an unknown iterable that the program treats as a loader."""
    key = source_key(interp, "batch", node)
    return Tensor(CPU, (Origin("batch", key),), is_certain=False, maybe_container=True)


def next_batch(interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
    """Return a batch of a loader; the origin of each CPU tensor is its path in the batch."""
    key = source_key(interp, "batch", node, pointer)
    obj = interp.heap_object(pointer)
    dataset, collate_fn = obj.fields.get("dataset", UNKNOWN), obj.fields.get("collate_fn")
    one = sample(interp, dataset, node)
    host_access.note_loader(interp, obj, one)
    rng.draw_of_loader(interp, obj, node)
    if collate_fn is not None and collate_fn != Const(None):
        samples = interp.new(HeapObject("list", default_item=one))
        batch = interp.call(collate_fn, [samples], {}, implicit_call(node))
        host_access.note_loader(interp, obj, batch)
        if isinstance(batch, Unknown) or (isinstance(batch, Pointer) and interp.heap_object(batch).kind == "opaque"):
            device = UNKNOWN_DEVICE if _holds_moved_tensors(interp, collate_fn) else CPU
            batch = Tensor(device, is_certain=False, maybe_container=True)
    else:
        batch = collate(interp, one)
    return tag_origins(interp, batch, key, ())


def _holds_moved_tensors(interp: Interpreter, value: Value, depth: int = 0) -> bool:
    """Return whether a method's object holds tensors that are not on the CPU for sure: it may collate these."""
    if isinstance(value, Bound):
        return _holds_moved_tensors(interp, value.receiver, depth)
    if isinstance(value, Tensor):
        return value.device != CPU
    if isinstance(value, (Union, TupleValue)):
        parts = value.alternatives if isinstance(value, Union) else value.items
        return any(_holds_moved_tensors(interp, part, depth) for part in parts)
    if not isinstance(value, Pointer) or depth > _MOST_NESTED:
        return False
    obj = interp.heap_object(value)
    return obj.last_moved_at is not None or any(
        _holds_moved_tensors(interp, part, depth + 1) for part in obj.contents if part != value
    )


def sample(interp: Interpreter, dataset: Value, node: ast.AST) -> Value:
    """Return one item of a dataset, before collation."""
    if isinstance(dataset, Union):
        return join(sample(interp, option, node) for option in dataset.alternatives)
    if isinstance(dataset, Pointer):
        obj = interp.heap_object(dataset)
        if obj.kind == "batch-object":
            return dataset
        if obj.kind == "dataset":
            inner = obj.fields.get("dataset")
            return sample(interp, inner, node) if inner is not None else obj.fields.get("sample", UNKNOWN)
        if obj.kind == "opaque" and any(
            device.kind != "cpu" for device in obj.devices if obj.last_moved_at is not None
        ):
            return Tensor(
                UNKNOWN_DEVICE, is_certain=False, maybe_container=True
            )  # a dataset that was moved to a device
        if obj.kind == "list":
            return join(obj.contents) if obj.contents else UNKNOWN
        if obj.cls is not None:
            getter = interp.attribute(dataset, "__getitem__", node)
            if isinstance(getter, Bound):
                return interp.call(getter, [Number("index")], {}, implicit_call(node))
            iterator = interp.attribute(dataset, "__iter__", node)
            if isinstance(iterator, Bound):
                result = interp.call(iterator, [], {}, implicit_call(node))
                return result.element if isinstance(result, IterableOf) else UNKNOWN
    if isinstance(dataset, Tensor):
        return replace(dataset, origins=())
    if isinstance(dataset, IterableOf):
        return dataset.element
    return UNKNOWN


def single_graph(interp: Interpreter, dataset: Pointer, node: ast.AST) -> Value:
    """Return the graph of a dataset with a single graph: ``dataset[0]``, ``dataset.data``."""
    return tag_origins(interp, sample(interp, dataset, node), source_key(interp, "whole", node), ())


def collate(interp: Interpreter, value: Value, depth: int = 0) -> Value:
    """Return a batch as PyTorch's ``default_collate`` does: numbers and arrays become CPU tensors, containers remain.

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
            return TupleValue(tuple(collate(interp, item, depth + 1) for item in items))
        case Union(alternatives):
            return join(collate(interp, option, depth + 1) for option in alternatives)
        case Pointer():
            obj = interp.heap_object(value)
            if obj.kind in ("dict", "list"):
                fields = {key: collate(interp, item, depth + 1) for key, item in obj.fields.items()}
                default_item = None if obj.default_item is None else collate(interp, obj.default_item, depth + 1)
                return interp.new(replace(obj, fields=fields, default_item=default_item))
            if obj.kind == "instance" and obj.get("array"):
                return Tensor(CPU)
            if obj.kind == "batch-object":
                return value
    return Tensor(CPU, is_certain=False, maybe_container=True)


def tag_origins(interp: Interpreter, value: Value, key: int, item: tuple[str, ...]) -> Value:
    """Return a batch in which every CPU tensor has its path as the origin; ``key`` identifies the batch."""
    if len(item) > _MOST_NESTED:
        return value  # a recursive batch
    match value:
        case Tensor(device=device) if device == CPU:
            return replace(value, origins=(Origin("batch", key, item),))
        case TupleValue(items):
            return TupleValue(tuple(tag_origins(interp, part, key, (*item, str(i))) for i, part in enumerate(items)))
        case Union(alternatives):
            return join(tag_origins(interp, option, key, item) for option in alternatives)
        case IterableOf(inner) if not isinstance(inner, Text):
            return IterableOf(tag_origins(interp, inner, key, (*item, "*")))
        case Unknown():
            return Tensor(CPU, (Origin("batch", key, item),), is_certain=False, maybe_container=True)
        case Pointer():
            obj = interp.heap_object(value)
            if obj.kind == "batch-object":
                return interp.new(batch_objects.with_origin(obj, key, item))
            if obj.kind in ("dict", "list") or (obj.kind == "instance" and obj.cls is not None):
                fields = {name: tag_origins(interp, part, key, (*item, name)) for name, part in obj.fields.items()}
                default_item = (
                    None if obj.default_item is None else tag_origins(interp, obj.default_item, key, (*item, "*"))
                )
                info = (*(pair for pair in obj.info if pair[0] != "batch"), ("batch", (key, item)))
                return interp.new(replace(obj, fields=fields, default_item=default_item, info=info))
    return value
