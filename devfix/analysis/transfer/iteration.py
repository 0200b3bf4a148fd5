"""Loops, loaders, datasets: what iterating a value yields, and where batches come from."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import externals, member
from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Bound,
    Const,
    Parameters,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    union,
)
from devfix.analysis.torch import batch_objects, batches

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["are_few", "element", "elements", "unpacked"]

MOST_ELEMENTS = 8
MOST_WITH_MODULES = 24
_BARE = frozenset({"builtins.object", "object", "abc.ABC"})  # bases that bring no iteration


def elements(run: Interpreter, value: Value, node: ast.AST) -> list[Value] | None:
    """The elements one by one where they are known and few, else ``None``."""
    if isinstance(value, TupleValue) and are_few(run, value.items):
        return list(value.items)
    if isinstance(value, Ref):
        record = run.record(value)
        if record.rest is None and record.fields and are_few(run, record.fields.values()):
            if record.kind in ("list", "set") or record.name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
                return list(record.fields.values())
            if record.kind == "dict":
                return [Const(key) for key in record.fields]
            if record.kind == "instance" and is_named_tuple(run, value):
                return list(record.fields.values())
            if record.kind == "instance" and is_plain_object(run, value):
                return [Const(key) for key in record.fields]  # of its ``__dict__``: nothing else of it can be iterated
    return None


def are_few(run: Interpreter, held: Collection[Value]) -> bool:
    """Whether a loop can go over values one by one; with modules among them, over more: each may be moved there."""
    most = MOST_ELEMENTS
    if most < len(held) <= MOST_WITH_MODULES:
        last = [value.items[-1] if isinstance(value, TupleValue) and value.items else value for value in held]
        if any(isinstance(value, Ref) and run.record(value).kind == "module" for value in last):
            most = MOST_WITH_MODULES
    return len(held) <= most


def is_named_tuple(run: Interpreter, ref: Ref) -> bool:
    """Whether an object is a tuple whose items have names: it is unpacked and iterated as one."""
    cls = run.record(ref).cls
    return cls is not None and "typing.NamedTuple" in externals(cls)


def is_plain_object(run: Interpreter, ref: Ref) -> bool:
    """Whether an object of the project cannot be iterated: ``vars(object)`` stands where it is."""
    cls = run.record(ref).cls
    own = ("__iter__", "__getitem__")
    return cls is not None and set(externals(cls)) <= _BARE and all(member(run, cls, name) is None for name in own)


def element(run: Interpreter, value: Value, node: ast.AST, moved: frozenset[str] = frozenset()) -> Value:
    """One value that stands for every element.

    ``moved`` names loop targets that the body sends to a device: then an iterable of unknown origin is a loader.
    """
    match value:
        case Yields(inner):
            return inner
        case TupleValue(items):
            return union(items)
        case Union(alternatives):
            return union(element(run, option, node, moved) for option in alternatives)
        case Parameters(ref, named):
            from devfix.analysis.torch.modules import first_place

            parameter = Tensor(first_place(run, ref), (Birth("parameter", ref.id),))
            return TupleValue((Text(), parameter)) if named else parameter
        case Tensor(loose=True, births=births, place=place):
            if births and births[0].kind == "batch" and place == CPU:
                return _inner(value, "*")
            return value
        case Tensor():
            return replace(value, scalar=True)  # the rows of a vector have no dimensions left
        case Ref():
            return _element_of_record(run, value, node, moved)
        case Text() | Const():
            return Text()
    return batches.unknown(run, node) if moved else UNKNOWN


def _element_of_record(run: Interpreter, ref: Ref, node: ast.AST, moved: frozenset[str]) -> Value:
    record = run.record(ref)
    if record.get("delivers") is not None:
        plain = run.new(replace(record, info=tuple(pair for pair in record.info if pair[0] != "delivers")))
        held = UNKNOWN if record.kind == "opaque" else _element_of_record(run, plain, node, moved)
        unknown = Tensor(ANYWHERE, loose=True, sure=False)
        return unknown if isinstance(held, Unknown) else batch_objects.delivered(run, held, record.get("delivers"))
    if record.kind == "loader":
        return batches.next_of(run, ref, node)
    if record.kind == "dict":
        return union(Const(key) for key in record.fields) if record.fields and record.rest is None else Text()
    if record.kind in ("list", "set", "module") or is_named_tuple(run, ref):
        inner = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
        return union(inner) if inner else UNKNOWN
    if record.cls is not None:
        iterator = run.attribute(ref, "__iter__", node)
        if isinstance(iterator, Bound):
            result = run.call(iterator, [], {}, batches.bare_call(node))
            return element(run, result, node, moved) if result != ref else _stepped(run, ref, node)
    if record.kind in ("instance", "dataset"):
        one = batches.sample(run, ref, node)
        if not isinstance(one, Unknown):
            return batches.stamp(run, one, batches.source_key(run, "batch", node), ())
    return batches.unknown(run, node) if moved else UNKNOWN


def _stepped(run: Interpreter, ref: Ref, node: ast.AST) -> Value:
    step = run.attribute(ref, "__next__", node)
    return run.call(step, [], {}, batches.bare_call(node)) if isinstance(step, Bound) else UNKNOWN


def _inner(value: Tensor, name: str) -> Tensor:
    births = tuple(Birth(birth.kind, birth.key, (*birth.item, name)) for birth in value.births)
    return replace(value, births=births)


def unpacked(run: Interpreter, value: Value, count: int) -> list[Value]:
    """A value unpacked into ``count`` targets."""
    match value:
        case TupleValue(items) if len(items) == count:
            return list(items)
        case TupleValue(items):
            return [union(items)] * count if len(items) > count else [UNKNOWN] * count
        case Tensor(loose=True, place=place, births=births):
            if place == CPU and births:
                return [_inner(value, str(i)) for i in range(count)]
            return [value] * count
        case Tensor():
            return [value] * count
        case Yields(inner):
            return [inner] * count
        case Parameters():
            return [element(run, value, ast.Constant(None))] * count
        case Ref():
            record = run.record(value)
            if record.kind in ("list", "module", "instance", "dict"):
                held = list(record.fields.values())
                if record.kind == "dict":
                    return [Const(key) for key in record.fields] if len(held) == count else [Text()] * count
                if len(held) == count and record.rest is None:
                    return held
                if record.rest is not None:
                    return [record.fields.get(str(i), record.rest) for i in range(count)]
            if record.kind == "dataset":
                return [value] * count
    return [UNKNOWN] * count
