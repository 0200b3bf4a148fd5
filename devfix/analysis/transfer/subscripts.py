"""Subscripts: reads by index, key or slice."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.classes import is_named_tuple
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    DeviceValue,
    External,
    HeapObject,
    IterableOf,
    Number,
    Origin,
    Parameters,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch import batches, data_sources, module_tree
from devfix.analysis.transfer import calls, iteration
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["subscript"]


def subscript(interp: Interpreter, node: ast.Subscript) -> Value:
    """Evaluate ``base[key]``."""
    base = interp.evaluate(node.value)
    key = interp.evaluate(node.slice)
    if _has_index_mismatch(interp, base, key, node):
        return Tensor(ACCELERATOR)  # reported once: later uses of the result are not reported again
    return join(_item(interp, option, key, node) for option in alternatives(base))


def _has_index_mismatch(interp: Interpreter, base: Value, key: Value, node: ast.Subscript) -> bool:
    """Check ``x[index]``; return whether a mismatch was recorded.

    An index on the accelerator requires ``x`` on the same device; an index on the CPU is allowed for any ``x``.  A
    zero-dimensional index is read as a number, on any device.
    ``aten/src/ATen/native/TensorAdvancedIndexing.cpp``: "indices should be either on cpu or on the same device as the
    indexed tensor".
    """
    tensors = [option for option in alternatives(base) if isinstance(option, Tensor)]
    on_cpu = any(tensor.device == CPU and not tensor.maybe_container for tensor in tensors)
    if not on_cpu or not isinstance(base, (Tensor, Union)):
        return False
    mismatches_before = len(interp.observations.mismatches)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    keys = key.items if isinstance(key, TupleValue) and len(key.items) == len(parts) else (key,)
    for index, part in zip(keys, parts, strict=False):
        if not isinstance(index, (Tensor, Union)):
            continue
        if any(isinstance(option, Tensor) and option.device == ACCELERATOR for option in alternatives(index)) and all(
            isinstance(option, Tensor) and not option.maybe_zero_dim and not option.maybe_container
            for option in alternatives(index)
        ):
            check_same_device(
                interp,
                node,
                "index",
                [tensor_operands(base, text_of(node.value)), tensor_operands(index, text_of(part))],
            )
    return len(interp.observations.mismatches) > mismatches_before


def _item(interp: Interpreter, base: Value, key: Value, node: ast.Subscript) -> Value:
    name = str(key.value) if isinstance(key, Const) else None
    match base:
        case TupleValue(items):
            if isinstance(node.slice, ast.Slice):
                return TupleValue(_sliced(items, node.slice)) if _sliced(items, node.slice) is not None else base
            if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                return items[key.value]
            return join(items)
        case Tensor(maybe_container=True, device=device, origins=origins) if not isinstance(node.slice, ast.Slice):
            if device == CPU and origins and name is not None:
                return Tensor(
                    device, tuple(Origin(b.kind, b.site_id, (*b.path, name)) for b in origins), base.is_certain, True
                )
            return base
        case Tensor():
            keys = key.items if isinstance(key, TupleValue) else (key,)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            sliced = any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts)
            selects_element = not sliced and all(_may_be_number(k) for k in keys)
            if selects_element:
                return replace(base, maybe_zero_dim=True)  # an element may have no dimensions
            return base
        case Pointer() if is_named_tuple(interp, base):
            return _item(interp, TupleValue(tuple(interp.heap_object(base).fields.values())), key, node)
        case Pointer():
            return _item_of_object(interp, base, name, node)
        case IterableOf(inner):
            return inner
        case Unknown(symbol):
            array = numpy_.item(base, key, node)
            if array is not None:
                return array
            return Unknown(f"{symbol}[{name}]".replace("[", ".").replace("]", "") if symbol and name else "")
        case Parameters():
            return iteration.element(interp, base, node)
        case DeviceValue():
            return base
        case External(full) if full.endswith(".__dict__"):
            return External(f"{full.removesuffix('.__dict__')}.{name or 'any'}")
        case External(full):
            return External(full) if full.startswith("typing") else Unknown(f"{full}.{name}" if name else "")
    return UNKNOWN


def _may_be_number(key: Value) -> bool:
    return isinstance(key, (Number, Unknown)) or (isinstance(key, Const) and isinstance(key.value, int))


def _graph_dataset_item(pointer: Pointer, node: ast.Subscript) -> Value:
    """Index a dataset of graphs: a slice is a dataset, any other key yields an item or a dataset."""
    return pointer if isinstance(node.slice, ast.Slice) else UNKNOWN


def _sliced(items: tuple[Value, ...], node: ast.Slice) -> tuple[Value, ...]:
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            bounds.append(None)
        elif isinstance(part, ast.Constant) and isinstance(part.value, int):
            bounds.append(part.value)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) and isinstance(part.operand, ast.Constant):
            if not isinstance(part.operand.value, int):
                return items
            bounds.append(-part.operand.value)
        else:
            return items
    return items[slice(*bounds)]


def _item_of_object(interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
    obj = interp.heap_object(pointer)
    if obj.cls is not None and obj.kind != "module":
        getter = interp.attribute(pointer, "__getitem__", node)
        if isinstance(getter, calls.Bound):
            call = ast.copy_location(ast.Call(ast.Name("item", ast.Load()), [], []), node)
            key = Const(name) if name is not None else Number("index")
            result = interp.call(getter, [key], {}, call)
            if not isinstance(result, (Tensor, TupleValue, Pointer)):
                return result
            return batches.tag_origins(interp, result, data_sources.source_key(interp, "batch", node), ())
    if obj.kind == "dataset":
        one = batches.sample(interp, pointer, node)
        if isinstance(one, Pointer) and interp.heap_object(one).kind == "batch-object":
            return (
                batches.single_graph(interp, pointer, node) if name is not None else _graph_dataset_item(pointer, node)
            )
        return (
            batches.tag_origins(interp, one, data_sources.source_key(interp, "batch", node), ())
            if _is_tuple_of_tensors(one)
            else UNKNOWN
        )
    if obj.kind == "loader":
        return UNKNOWN
    if obj.get("partly-moved"):
        return Tensor(UNKNOWN_DEVICE, maybe_container=True)  # a partly moved store of a graph
    if isinstance(node.slice, ast.Slice):
        items = obj.contents
        if obj.kind == "list":
            if obj.default_item is None:
                sliced = _sliced(tuple(items), node.slice)
                return interp.new(HeapObject("list", fields={str(i): item for i, item in enumerate(sliced)}))
            return interp.new(HeapObject("list", default_item=join(items)))
        return pointer
    if name is not None and name.lstrip("-").isdigit() and obj.kind in ("list", "module") and name not in obj.fields:
        numbered = [key for key in obj.fields if key.isdigit()]
        if int(name) < 0 and numbered and obj.default_item is None:
            name = str(len(numbered) + int(name))
    if name is not None and name in obj.fields:
        return obj.fields[name]
    if obj.default_item is not None:
        rest = obj.default_item
        if (
            isinstance(rest, Tensor)
            and rest.maybe_container
            and rest.origins
            and name is not None
            and rest.device == CPU
        ):
            return Tensor(
                CPU, tuple(Origin(b.kind, b.site_id, (*b.path, name)) for b in rest.origins), rest.is_certain, True
            )
        return rest
    if obj.kind == "module" and module_tree.is_opaque(obj):
        return module_tree.opaque_child(interp, pointer, name or "*")
    if obj.kind in ("list", "module") and name is None and obj.fields:
        return join(obj.fields.values())
    if obj.kind == "dict" and name is None and obj.fields:
        return join(obj.fields.values())
    if obj.kind == "instance" and name is None:
        return attribute_stores.computed_attribute(interp, pointer)
    return Unknown(f"{obj.name or obj.kind}#{pointer.id}.{name}" if name else "")


def _is_tuple_of_tensors(value: Value) -> bool:
    """Return whether a dataset item is a tuple of certain tensors."""
    return isinstance(value, TupleValue) and all(isinstance(item, Tensor) and item.is_certain for item in value.items)
