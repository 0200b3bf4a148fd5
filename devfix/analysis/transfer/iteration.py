"""Iteration: the elements of containers, loaders and datasets; unpacking."""

from __future__ import annotations

import ast
from itertools import zip_longest
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import BatchSource
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    IterableOf,
    Origin,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    join,
    present,
)
from devfix.analysis.stdlib.items import is_unrollable
from devfix.analysis.torch import batch_objects, batches
from devfix.analysis.torch.module_tree import weights_device

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["arguments_of", "element", "elements", "is_element", "unpack", "whole_of"]


def elements(interp: Interpreter, value: Value, node: ast.AST) -> list[Value] | None:
    """Return the elements one by one if they are known and few, else ``None``."""
    if isinstance(value, TupleValue) and is_unrollable(interp, value.items):
        return list(value.items)
    return interp.heap_object(value).elements(interp, value) if isinstance(value, Pointer) else None


def arguments_of(interp: Interpreter, value: Value, node: ast.AST) -> list[Value]:
    """Return the arguments of ``*value``: each is that of one of several tuples, which may have different lengths."""
    tuples = present(value)
    if all(isinstance(option, TupleValue) for option in tuples):
        items = [option.items for option in tuples if isinstance(option, TupleValue)]
        return [join(each for each in given if each is not None) for given in zip_longest(*items)]
    known = elements(interp, value, node)
    return known if known is not None else [element(interp, value, node)]


def element(interp: Interpreter, value: Value, node: ast.AST, moved: frozenset[str] = frozenset()) -> Value:
    """Return one value that represents every element.

    ``moved`` names loop targets that the body moves to a device: an unknown iterable is then taken for a loader.
    """
    match value:
        case IterableOf(inner):
            return inner
        case TupleValue(items):
            return join(items)
        case Union(options):
            return join(element(interp, option, node, moved) for option in options)
        case Parameters(pointer, named):
            parameter = Tensor(weights_device(interp, pointer), (Origin("parameter", pointer.id),), grad=True)
            return TupleValue((Text(), parameter)) if named else parameter
        case Tensor(maybe_container=True, origins=origins, device=device):
            if origins and origins[0].kind == "batch" and device == CPU:
                return _inner(value, "*")
            return value
        case Tensor():
            return replace(value, maybe_zero_dim=True)  # an element of a vector has no dimensions
        case Pointer():
            return _element_of_object(interp, value, node, moved)
        case Text() | Const():
            return Text()
    return batches.unknown_batch(interp, node) if moved else UNKNOWN


def _element_of_object(interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value:
    obj = interp.heap_object(pointer)
    if isinstance(obj, BatchSource) and obj.batch_device is not None:
        plain = replace(obj, batch_device=None)
        found = plain.element(interp, interp.new(plain), node, moved)
        if found is None or isinstance(found, Unknown):
            return Tensor(UNKNOWN_DEVICE, maybe_container=True, is_certain=False)
        return batch_objects.move_batch(interp, found, obj.batch_device)
    found = obj.element(interp, pointer, node, moved)
    if found is not None:
        return found
    return batches.unknown_batch(interp, node) if moved else UNKNOWN


def is_element(value: Tensor, batch: Tensor) -> bool:
    """Return whether a value is what iteration over a batch of unknown structure yields: keys, if it is a mapping."""
    return bool(batch.origins) and value.origins == _inner(batch, "*").origins


def whole_of(element: Tensor) -> Tensor | None:
    """Return the batch, or the part of one, of which a tensor represents the elements; ``None`` if it does not."""
    if not element.origins or any(origin.path[-1:] != ("*",) for origin in element.origins):
        return None
    origins = (Origin(origin.kind, origin.site_id, origin.path[:-1]) for origin in element.origins)
    return replace(element, origins=tuple(origins))


def _inner(value: Tensor, name: str) -> Tensor:
    origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, name)) for origin in value.origins)
    return replace(value, origins=origins)


def unpack(interp: Interpreter, value: Value, count: int) -> list[Value]:
    """Return the values of ``count`` targets that a value is unpacked to."""
    match value:
        case TupleValue(items) if len(items) == count:
            return list(items)
        case TupleValue(items):
            return [join(items)] * count if len(items) > count else [UNKNOWN] * count
        case Tensor(maybe_container=True, device=device, origins=origins):
            if device == CPU and origins:
                return [_inner(value, str(i)) for i in range(count)]
            return [value] * count
        case Tensor():
            return [replace(value, maybe_zero_dim=True)] * count  # the elements of a vector have no dimensions
        case IterableOf(inner):
            return [inner] * count
        case Parameters():
            return [element(interp, value, ast.Constant(None))] * count
        case Pointer():
            return interp.heap_object(value).unpack(interp, value, count)
    return [UNKNOWN] * count
