"""Iteration: the elements of containers, loaders and datasets; unpacking."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import external_bases, find_member, is_named_tuple
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
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
)
from devfix.analysis.stdlib.containers import is_unrollable
from devfix.analysis.torch import batch_objects, batches, data_sources
from devfix.analysis.torch.module_tree import weights_device

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["element", "elements", "unpack"]

_BARE = frozenset({"builtins.object", "object", "abc.ABC"})  # bases without iteration


def elements(interp: Interpreter, value: Value, node: ast.AST) -> list[Value] | None:
    """Return the elements one by one if they are known and few, else ``None``."""
    if isinstance(value, TupleValue) and is_unrollable(interp, value.items):
        return list(value.items)
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if obj.default_item is None and obj.fields and is_unrollable(interp, obj.fields.values()):
            if obj.kind in ("list", "set") or obj.name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
                return list(obj.fields.values())
            if obj.kind == "dict":
                return [Const(key) for key in obj.fields]
            if obj.kind == "instance" and is_named_tuple(interp, value):
                return list(obj.fields.values())
            if obj.kind == "instance" and is_plain_object(interp, value):
                return [Const(key) for key in obj.fields]  # keys of its ``__dict__``
    return None


def is_plain_object(interp: Interpreter, pointer: Pointer) -> bool:
    """Return whether a project object is not iterable; if it is iterated, it represents its ``vars()``."""
    cls = interp.heap_object(pointer).cls
    methods = ("__iter__", "__getitem__")
    return (
        cls is not None
        and set(external_bases(cls)) <= _BARE
        and all(find_member(interp, cls, name) is None for name in methods)
    )


def element(interp: Interpreter, value: Value, node: ast.AST, moved: frozenset[str] = frozenset()) -> Value:
    """Return one value that represents every element.

    ``moved`` names loop targets that the body moves to a device: an unknown iterable is then taken for a loader.
    """
    match value:
        case IterableOf(inner):
            return inner
        case TupleValue(items):
            return join(items)
        case Union(alternatives):
            return join(element(interp, option, node, moved) for option in alternatives)
        case Parameters(pointer, named):
            parameter = Tensor(weights_device(interp, pointer), (Origin("parameter", pointer.id),))
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
    if obj.get("moves-batches-to") is not None:
        plain = interp.new(replace(obj, info=tuple(pair for pair in obj.info if pair[0] != "moves-batches-to")))
        inner_element = UNKNOWN if obj.kind == "opaque" else _element_of_object(interp, plain, node, moved)
        unknown = Tensor(UNKNOWN_DEVICE, maybe_container=True, is_certain=False)
        return (
            unknown
            if isinstance(inner_element, Unknown)
            else batch_objects.move_batch(interp, inner_element, obj.get("moves-batches-to"))
        )
    if obj.kind == "loader":
        return batches.next_batch(interp, pointer, node)
    if obj.kind == "dict":
        return join(Const(key) for key in obj.fields) if obj.fields and obj.default_item is None else Text()
    if obj.kind in ("list", "set", "module") or is_named_tuple(interp, pointer):
        inner = obj.contents
        return join(inner) if inner else UNKNOWN
    if obj.cls is not None:
        iterator = interp.attribute(pointer, "__iter__", node)
        if isinstance(iterator, Bound):
            result = interp.call(iterator, [], {}, batches.implicit_call(node))
            return element(interp, result, node, moved) if result != pointer else _next_element(interp, pointer, node)
    if obj.kind in ("instance", "dataset"):
        one = batches.sample(interp, pointer, node)
        if not isinstance(one, Unknown):
            return batches.tag_origins(interp, one, data_sources.source_key(interp, "batch", node), ())
    return batches.unknown_batch(interp, node) if moved else UNKNOWN


def _next_element(interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
    step = interp.attribute(pointer, "__next__", node)
    return interp.call(step, [], {}, batches.implicit_call(node)) if isinstance(step, Bound) else UNKNOWN


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
            return [value] * count
        case IterableOf(inner):
            return [inner] * count
        case Parameters():
            return [element(interp, value, ast.Constant(None))] * count
        case Pointer():
            obj = interp.heap_object(value)
            if obj.kind in ("list", "module", "instance", "dict"):
                values = list(obj.fields.values())
                if obj.kind == "dict":
                    return [Const(key) for key in obj.fields] if len(values) == count else [Text()] * count
                if len(values) == count and obj.default_item is None:
                    return values
                if obj.default_item is not None:
                    return [obj.fields.get(str(i), obj.default_item) for i in range(count)]
            if obj.kind == "dataset":
                return [value] * count
    return [UNKNOWN] * count
