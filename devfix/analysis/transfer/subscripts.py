"""Subscripts: reads by index, key or slice."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import external_bases, find_member, is_named_tuple
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    ClassValue,
    Const,
    DeviceValue,
    External,
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
    present,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.stdlib.items import sliced
from devfix.analysis.stdlib.texts import device_in_key
from devfix.analysis.transfer import iteration
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
        return Tensor(UNKNOWN_DEVICE)  # where ``base`` is, or will be: later uses are not reported again
    options = present(base)
    return join(_item(interp, option, key, node) for option in options)


def _has_index_mismatch(interp: Interpreter, base: Value, key: Value, node: ast.Subscript) -> bool:
    """Check ``x[index]``, read; return whether a mismatch was recorded.  What is written moves its index.

    An index on the accelerator requires ``x`` on the same device; an index on the CPU is allowed for any ``x``.  A
    zero-dimensional index is read as a number, on any device.
    ``aten/src/ATen/native/TensorAdvancedIndexing.cpp``: "indices should be either on cpu or on the same device as the
    indexed tensor".
    """
    tensors = [option for option in alternatives(base) if isinstance(option, Tensor)]
    on_cpu = any(tensor.device == CPU and not tensor.maybe_container for tensor in tensors)
    if not on_cpu or not isinstance(base, (Tensor, Union)):
        return False
    fails = False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    keys = key.items if isinstance(key, TupleValue) and len(key.items) == len(parts) else (key,)
    for index, part in zip(keys, parts, strict=False):
        if not isinstance(index, (Tensor, Union)):
            continue
        if any(isinstance(option, Tensor) and option.device == ACCELERATOR for option in alternatives(index)) and all(
            isinstance(option, Tensor) and not option.maybe_zero_dim and not option.maybe_container
            for option in alternatives(index)
        ):
            operands = [tensor_operands(base, text_of(node.value)), tensor_operands(index, text_of(part))]
            fails |= not interp.scenario.multi_accelerator and operands[0].conflicts_with(operands[1])
            check_same_device(interp, node, "index", operands)
    return fails


def _item(interp: Interpreter, base: Value, key: Value, node: ast.Subscript) -> Value:
    name = str(key.value) if isinstance(key, Const) else None
    match base:
        case TupleValue(items):
            if isinstance(node.slice, ast.Slice):
                return TupleValue(tuple(sliced(items, node.slice)))
            if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                return items[key.value]
            return join(items)
        case Tensor(maybe_container=True, device=device, origins=origins) if not isinstance(node.slice, ast.Slice):
            if device == CPU and origins and name is not None:
                return Tensor(
                    device, tuple(Origin(b.kind, b.site_id, (*b.path, name)) for b in origins), base.is_certain, True
                )
            is_entry = isinstance(key, Const) and isinstance(key.value, str)  # it need not be a tensor
            return replace(base, is_certain=False) if is_entry and device != CPU else base
        case Tensor():
            keys = key.items if isinstance(key, TupleValue) else (key,)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            has_slice = any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts)
            selects_element = not has_slice and all(_may_be_number(k) for k in keys)
            if selects_element and base.is_single_number and base.maybe_zero_dim:
                return Number()  # `loss.data[0]`: a Python number before torch 0.4, an IndexError since
            if selects_element:
                return replace(base, maybe_zero_dim=True)  # an element may have no dimensions
            return base
        case Pointer() if is_named_tuple(interp, base):
            return _item(interp, TupleValue(tuple(interp.heap_object(base).fields.values())), key, node)
        case Pointer() if isinstance(node.slice, ast.Tuple) and _is_opaque_module(interp, base):
            return Tensor(UNKNOWN_DEVICE)  # no module has several indices: what was taken for one is a tensor
        case Pointer():
            return _on_device_of_key(interp.heap_object(base).item(interp, base, name, node), key)
        case IterableOf(inner):
            return inner
        case Unknown(symbol):
            array = numpy_.item(base, key, node)
            if array is not None:
                return array
            if _is_length(node, key):
                return Number()
            return Unknown(f"{symbol}[{name}]".replace("[", ".").replace("]", "") if symbol and name else "")
        case Parameters():
            return iteration.element(interp, base, node)
        case DeviceValue():
            return base
        case External(full) if full.endswith(".__dict__"):
            return External(f"{full.removesuffix('.__dict__')}.{name or 'any'}")
        case ClassValue() if _is_generic(interp, base):
            return base  # with its parameters: ``class Trainer(Loop[Batch])``
        case External(full) if full.startswith("typing") or _is_class(full):
            return External(full)
        case External(full):
            return Unknown(f"{full}.{name}" if name else "")
    return UNKNOWN


def _is_length(node: ast.Subscript, key: Value) -> bool:
    """Return whether an item is a length: ``x.shape[0]`` is a number, whatever ``x`` is."""
    is_key = isinstance(key, Const) and isinstance(key.value, str)
    is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return is_shape and not is_key and not isinstance(node.slice, ast.Slice)


def _is_opaque_module(interp: Interpreter, value: Value) -> bool:
    module = module_at(interp, value)
    return module is not None and module.is_opaque


def _is_generic(interp: Interpreter, cls: ClassValue) -> bool:
    """Return whether ``cls[key]`` gives a class parameters: it is no member of an enumeration, nor the class's own."""
    is_enumeration = any(name.startswith("enum.") for name in external_bases(cls))
    return not is_enumeration and find_member(interp, cls, "__class_getitem__") is None


def _is_class(name: str) -> bool:
    """Return whether the name of a library's object is that of a class, by convention: ``torch.utils.data.Dataset``."""
    last = name.rpartition(".")[2]
    return last[:1].isupper() and not last.isupper()


def _on_device_of_key(found: Value, key: Value) -> Value:
    """Return which of the items found under a key is meant: ``windows[f"{size}-{x.device}"]`` is where ``x`` is."""
    device = device_in_key(key)
    if device is None:
        return found
    meant = [option for option in alternatives(found) if not isinstance(option, Tensor) or option.device == device]
    return join(meant) if meant else UNKNOWN


def _may_be_number(key: Value) -> bool:
    return any(
        isinstance(option, (Number, Unknown))
        or (isinstance(option, Const) and isinstance(option.value, int))
        or (isinstance(option, Tensor) and option.maybe_zero_dim)
        for option in alternatives(key)
    )
