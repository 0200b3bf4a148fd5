"""What data sets and loaders bring: samples, how they are collated, and where each tensor of a batch comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import host_access
from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Bound,
    Const,
    Number,
    Record,
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
from devfix.analysis.observations import Source
from devfix.analysis.torch import batch_objects, rng
from devfix.syntax.tree import position

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["bare_call", "collate", "next_of", "sample", "source_key", "stamp", "unknown", "whole_of"]

MOST_NESTED = 6
MOST_VISITS = 8


def bare_call(node: ast.AST) -> ast.Call:
    """A call without arguments that the source does not spell out: the one that iteration makes at ``node``."""
    return ast.copy_location(ast.Call(ast.Name("iterated", ast.Load()), [], []), node)


def source_key(run: Interpreter, kind: str, node: ast.AST, loader: Ref | None = None) -> int:
    """The key of the batch that ``node`` takes from a loader: one per place in the source."""
    if kind == "made":
        assert run.frame is not None
        place: tuple[object, ...] = (kind, run.frame.module.path, *position(node))
    else:
        place = (kind, *_consumer(run, node))
    keys: dict[tuple[object, ...], int] = run.facts.__dict__.setdefault("_keys", {})
    if place not in keys:
        keys[place] = len(run.facts.sources)
        record = run.record(loader) if loader is not None else None
        run.facts.sources.append(
            Source(
                kind,
                run.site(node, remember=kind == "made" or loader is not None),
                loader,
                record.get("pinned") if record else None,
                record.born if record else None,
            )
        )
    if kind == "made":
        _note_visit(run, keys[place], node)
    return keys[place]


def _note_visit(run: Interpreter, key: int, node: ast.AST) -> None:
    """Remember the moment at which a value was made: another call may have other arguments."""
    visits = run.facts.visits.setdefault(key, [])
    if not visits:
        visits.append(run.facts.sources[key].site)
    elif len(visits) < MOST_VISITS and visits[-1].level.frame is not run.frame:
        way = run.site(node).way
        if all(known.way != way for known in visits):
            visits.append(run.site(node, remember=True))


def _consumer(run: Interpreter, node: ast.AST) -> Iterator[object]:
    """The statement that takes the batch; through generators and small helpers, the one that they serve, too."""
    frame, helpers = run.frame, 0
    while frame is not None:
        stmt = frame.stmt or node
        yield from (frame.module.path, *position(stmt))
        if not frame.yields and not frame.generator:
            if isinstance(stmt, (ast.For, ast.AsyncFor)) or helpers >= 1:
                return
            helpers += 1
        frame = frame.parent


def unknown(run: Interpreter, node: ast.AST) -> Value:
    """What one step over an iterable of unknown origin yields, where the program takes it for a loader."""
    key = source_key(run, "batch", node)
    return Tensor(CPU, (Birth("batch", key),), sure=False, loose=True)


def next_of(run: Interpreter, ref: Ref, node: ast.AST) -> Value:
    """What one step over a loader yields, each CPU tensor stamped with the way to it."""
    key = source_key(run, "batch", node, ref)
    record = run.record(ref)
    dataset, collate_fn = record.fields.get("dataset", UNKNOWN), record.fields.get("collate_fn")
    one = sample(run, dataset, node)
    host_access.note_loader(run, record, one)
    rng.draw_of_loader(run, record, node)
    if collate_fn is not None and collate_fn != Const(None):
        samples = run.new(Record("list", rest=one))
        batch = run.call(collate_fn, [samples], {}, bare_call(node))
        host_access.note_loader(run, record, batch)
        if isinstance(batch, Unknown) or (isinstance(batch, Ref) and run.record(batch).kind == "opaque"):
            batch = Tensor(CPU, sure=False, loose=True)
    else:
        batch = collate(run, one)
    return stamp(run, batch, key, ())


def sample(run: Interpreter, dataset: Value, node: ast.AST) -> Value:
    """One item of a dataset, before collation."""
    if isinstance(dataset, Union):
        return union(sample(run, option, node) for option in dataset.options)
    if isinstance(dataset, Ref):
        record = run.record(dataset)
        if record.kind == "bundle":
            return dataset
        if record.kind == "dataset":
            inner = record.fields.get("dataset")
            return sample(run, inner, node) if inner is not None else record.fields.get("sample", UNKNOWN)
        if record.kind == "opaque" and any(place.kind != "cpu" for place in record.places if record.moved is not None):
            return Tensor(ANYWHERE, sure=False, loose=True)  # data that was sent to a device as a whole
        if record.kind == "list":
            inner_items = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
            return union(inner_items) if inner_items else UNKNOWN
        if record.cls is not None:
            getter = run.attribute(dataset, "__getitem__", node)
            if isinstance(getter, Bound):
                return run.call(getter, [Number("index")], {}, bare_call(node))
            iterator = run.attribute(dataset, "__iter__", node)
            if isinstance(iterator, Bound):
                result = run.call(iterator, [], {}, bare_call(node))
                return result.element if isinstance(result, Yields) else UNKNOWN
    if isinstance(dataset, Tensor):
        return replace(dataset, births=())
    if isinstance(dataset, Yields):
        return dataset.element
    return UNKNOWN


def whole_of(run: Interpreter, dataset: Ref, node: ast.AST) -> Value:
    """The graph of a dataset that has one: ``dataset[0]``, ``dataset.data``."""
    return stamp(run, sample(run, dataset, node), source_key(run, "whole", node), ())


def collate(run: Interpreter, value: Value, depth: int = 0) -> Value:
    """PyTorch's default collation: numbers and arrays become CPU tensors, strings stay, containers are kept.

    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate
    """
    if depth > 4:
        return UNKNOWN
    match value:
        case Tensor():
            return replace(value, births=(), scalar=False)
        case Number():
            return Tensor(CPU)
        case Const(constant):
            return Yields(Text()) if isinstance(constant, str) else Tensor(CPU) if constant is not None else value
        case Text():
            return Yields(Text())
        case TupleValue(items):
            return TupleValue(tuple(collate(run, item, depth + 1) for item in items))
        case Union(alternatives):
            return union(collate(run, option, depth + 1) for option in alternatives)
        case Ref():
            record = run.record(value)
            if record.kind in ("dict", "list"):
                fields = {key: collate(run, item, depth + 1) for key, item in record.fields.items()}
                rest = None if record.rest is None else collate(run, record.rest, depth + 1)
                return run.new(replace(record, fields=fields, rest=rest))
            if record.kind == "instance" and record.get("array"):
                return Tensor(CPU)
            if record.kind == "bundle":
                return value
    return Tensor(CPU, sure=False, loose=True)


def stamp(run: Interpreter, value: Value, key: int, item: tuple[str, ...]) -> Value:
    """Give every CPU tensor in a batch its origin."""
    if len(item) > MOST_NESTED:
        return value  # a batch that holds itself
    match value:
        case Tensor(place=place) if place == CPU:
            return replace(value, births=(Birth("batch", key, item),))
        case TupleValue(items):
            return TupleValue(tuple(stamp(run, part, key, (*item, str(i))) for i, part in enumerate(items)))
        case Union(alternatives):
            return union(stamp(run, option, key, item) for option in alternatives)
        case Yields(inner) if not isinstance(inner, Text):
            return Yields(stamp(run, inner, key, (*item, "*")))
        case Unknown():
            return Tensor(CPU, (Birth("batch", key, item),), sure=False, loose=True)
        case Ref():
            record = run.record(value)
            if record.kind == "bundle":
                return run.new(batch_objects.restamped(record, key, item))
            if record.kind in ("dict", "list") or (record.kind == "instance" and record.cls is not None):
                fields = {name: stamp(run, part, key, (*item, name)) for name, part in record.fields.items()}
                rest = None if record.rest is None else stamp(run, record.rest, key, (*item, "*"))
                info = (*(pair for pair in record.info if pair[0] != "batch"), ("batch", (key, item)))
                return run.new(replace(record, fields=fields, rest=rest, info=info))
    return value
