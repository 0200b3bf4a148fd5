"""Subscripts: what an index, a key or a slice takes out of a value."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    External,
    Number,
    Parameters,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch import batches, modules
from devfix.analysis.transfer import calls, iteration
from devfix.analysis.transfer.device_check import meet, tensor_side
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["subscript"]


def subscript(run: Interpreter, node: ast.Subscript) -> Value:
    """``base[key]``, read."""
    base = run.evaluate(node.value)
    key = run.evaluate(node.slice)
    if _meet_indices(run, base, key, node):
        return Tensor(ACCELERATOR)  # told once: what the program does with it comes after
    return union(_item(run, option, key, node) for option in options(base))


def _meet_indices(run: Interpreter, base: Value, key: Value, node: ast.Subscript) -> bool:
    """``x[index]``: an index on the accelerator needs ``x`` there, one on the CPU serves any ``x``.

    An index without dimensions is read as a number, wherever it is.  Gives whether the two met.
    ``aten/src/ATen/native/TensorAdvancedIndexing.cpp``: "indices should be either on cpu or on the same device as the
    indexed tensor".
    """
    tensors = [option for option in options(base) if isinstance(option, Tensor)]
    on_cpu = any(tensor.place == CPU and not tensor.loose for tensor in tensors)
    if not on_cpu or not isinstance(base, (Tensor, Union)):
        return False
    met = len(run.facts.meetings)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    keys = key.items if isinstance(key, TupleValue) and len(key.items) == len(parts) else (key,)
    for index, part in zip(keys, parts, strict=False):
        if not isinstance(index, (Tensor, Union)):
            continue
        if any(isinstance(option, Tensor) and option.place == ACCELERATOR for option in options(index)) and all(
            isinstance(option, Tensor) and not option.scalar and not option.loose for option in options(index)
        ):
            meet(run, node, "index", [tensor_side(base, text_of(node.value)), tensor_side(index, text_of(part))])
    return len(run.facts.meetings) > met


def _item(run: Interpreter, base: Value, key: Value, node: ast.Subscript) -> Value:
    name = str(key.value) if isinstance(key, Const) else None
    match base:
        case TupleValue(items):
            if isinstance(node.slice, ast.Slice):
                return TupleValue(_sliced(items, node.slice)) if _sliced(items, node.slice) is not None else base
            if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                return items[key.value]
            return union(items)
        case Tensor(loose=True, place=place, births=births) if not isinstance(node.slice, ast.Slice):
            if place == CPU and births and name is not None:
                return Tensor(place, tuple(Birth(b.kind, b.key, (*b.item, name)) for b in births), base.sure, True)
            return base
        case Tensor():
            keys = key.items if isinstance(key, TupleValue) else (key,)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            sliced = any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts)
            whole = not sliced and all(_may_be_number(k) for k in keys)
            if whole:
                return replace(base, scalar=True)  # an element may have no dimensions left
            return base
        case Ref() if iteration.is_named_tuple(run, base):
            return _item(run, TupleValue(tuple(run.record(base).fields.values())), key, node)
        case Ref():
            return _item_of_record(run, base, name, node)
        case Yields(inner):
            return inner
        case Unknown(symbol):
            array = numpy_.part(base, key, node)
            if array is not None:
                return array
            return Unknown(f"{symbol}[{name}]".replace("[", ".").replace("]", "") if symbol and name else "")
        case Parameters():
            return iteration.element(run, base, node)
        case DeviceValue():
            return base
        case External(full) if full.endswith(".__dict__"):
            return External(f"{full.removesuffix('.__dict__')}.{name or 'any'}")
        case External(full):
            return External(full) if full.startswith("typing") else Unknown(f"{full}.{name}" if name else "")
    return UNKNOWN


def _may_be_number(key: Value) -> bool:
    return isinstance(key, (Number, Unknown)) or (isinstance(key, Const) and isinstance(key.value, int))


def _part_of_graphs(ref: Ref, node: ast.Subscript) -> Value:
    """``dataset[:100]`` is a dataset; by a name, it may be an item or a part."""
    return ref if isinstance(node.slice, ast.Slice) else UNKNOWN


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


def _item_of_record(run: Interpreter, ref: Ref, name: str | None, node: ast.Subscript) -> Value:
    record = run.record(ref)
    if record.cls is not None and record.kind != "module":
        getter = run.attribute(ref, "__getitem__", node)
        if isinstance(getter, calls.Bound):
            call = ast.copy_location(ast.Call(ast.Name("item", ast.Load()), [], []), node)
            key = Const(name) if name is not None else Number("index")
            result = run.call(getter, [key], {}, call)
            if not isinstance(result, (Tensor, TupleValue, Ref)):
                return result
            return batches.stamp(run, result, batches.source_key(run, "batch", node), ())
    if record.kind == "dataset":
        one = batches.sample(run, ref, node)
        if isinstance(one, Ref) and run.record(one).kind == "bundle":
            return batches.whole_of(run, ref, node) if name is not None else _part_of_graphs(ref, node)
        return batches.stamp(run, one, batches.source_key(run, "batch", node), ()) if _known(one) else UNKNOWN
    if record.kind == "loader":
        return UNKNOWN
    if record.get("in-part"):
        return Tensor(ANYWHERE, loose=True)  # a type's store: some of its tensors have moved
    if isinstance(node.slice, ast.Slice):
        held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
        if record.kind == "list":
            if record.rest is None:
                sliced = _sliced(tuple(held), node.slice)
                return run.new(Record("list", fields={str(i): item for i, item in enumerate(sliced)}))
            return run.new(Record("list", rest=union(held)))
        return ref
    if (
        name is not None
        and name.lstrip("-").isdigit()
        and record.kind in ("list", "module")
        and name not in record.fields
    ):
        numbered = [key for key in record.fields if key.isdigit()]
        if int(name) < 0 and numbered and record.rest is None:
            name = str(len(numbered) + int(name))
    if name is not None and name in record.fields:
        return record.fields[name]
    if record.rest is not None:
        rest = record.rest
        if isinstance(rest, Tensor) and rest.loose and rest.births and name is not None and rest.place == CPU:
            return Tensor(CPU, tuple(Birth(b.kind, b.key, (*b.item, name)) for b in rest.births), rest.sure, True)
        return rest
    if record.kind == "module" and modules.is_opaque(record):
        return modules.child(run, ref, name or "*")
    if record.kind in ("list", "module") and name is None and record.fields:
        return union(record.fields.values())
    if record.kind == "dict" and name is None and record.fields:
        return union(record.fields.values())
    if record.kind == "instance" and name is None:
        return attribute_stores.any_of(run, ref)
    return Unknown(f"{record.name or record.kind}#{ref.id}.{name}" if name else "")


def _known(value: Value) -> bool:
    """Whether an item of a data set is made of tensors that devfix knows."""
    return isinstance(value, TupleValue) and all(isinstance(item, Tensor) and item.sure for item in value.items)
