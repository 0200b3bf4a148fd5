"""Objects of other libraries that hold tensors and move as a whole: graphs of PyG and DGL, encodings of tokenizers.

A bundle's ``rest`` stands for every tensor in it; what a program writes into one is in its ``fields``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Const,
    Number,
    Place,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Union,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.move_observations import Transfer
from devfix.analysis.transfer.device_arguments import transfer_places

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["attribute", "bundle", "delivered", "method", "restamped", "taken_in"]

_MOVES = {"cuda": ACCELERATOR, "cpu": CPU, "xpu": ACCELERATOR, "npu": ACCELERATOR, "mps": ACCELERATOR}
_SELF = frozenset("contiguous coalesce pin_memory share_memory_ detach requires_grad_".split())
_COUNTS = ("batch_size", "num_", "number_of_", "is_", "has_", "in_degrees", "out_degrees")


def bundle(run: Interpreter, name: str, node: ast.AST, kind: str = "whole") -> Ref:
    """A bundle on the CPU, whose tensors have the origin of the whole; ``kind`` says what gave it (see ``Source``)."""
    from devfix.analysis.torch.batches import source_key

    key = source_key(run, kind, node)
    held = Tensor(CPU, (Birth("batch", key),), loose=True)
    info = (("batch", (key, ())),)
    return run.new(Record("bundle", name, rest=held, born=run.site(node), info=info))


def restamped(record: Record, key: int, item: tuple[str, ...]) -> Record:
    """The bundle as an item of a batch."""
    held = record.rest
    if isinstance(held, Tensor) and held.place == CPU:
        held = replace(held, births=(Birth("batch", key, item),))
    info = (*(pair for pair in record.info if pair[0] != "batch"), ("batch", (key, item)))
    return replace(record, rest=held, info=info)


def attribute(run: Interpreter, ref: Ref, name: str) -> Value | None:
    """``data.x``: a tensor; ``None`` for a method."""
    record = run.record(ref)
    if name.startswith(_COUNTS):
        return Number()
    if name in _METHODS or name in _SELF or name in _MOVES:
        return None
    held = record.fields.get(name.removesuffix("_dict"), record.rest)  # `x_dict` has the `x` of every type
    if not isinstance(held, Tensor):
        return UNKNOWN
    births = tuple(Birth(birth.kind, birth.key, (*birth.item, f".{name}")) for birth in held.births)
    return replace(held, births=births)


def taken_in(record: Record, name: str, value: Tensor) -> Tensor:
    """A tensor of the CPU that is written into a bundle on the CPU is one of its own: it moves with the whole."""
    held = record.rest
    if not isinstance(held, Tensor) or held.place != CPU or value.place != CPU or not held.births:
        return value
    births = tuple(Birth(birth.kind, birth.key, (*birth.item, f".{name}")) for birth in held.births)
    return replace(value, births=births)


_METHODS = frozenset("to clone copy items keys values get pop update to_dict convert_to_tensors".split())


def method(
    run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """A method of a bundle: moves, copies, and those of a dictionary."""
    from devfix.analysis.stdlib.containers import container_method

    record = run.record(ref)
    if name in ("to", *_MOVES) and any(isinstance(option, Const) for value in args[1:] for option in options(value)):
        return _moved_in_part(run, ref, transfer_places(run, args, keywords), args[1:])
    if name == "to" or name in _MOVES:
        return _moved(run, ref, [_MOVES[name]] if name in _MOVES else transfer_places(run, args, keywords), node)
    if name in ("clone", "copy"):
        return run.new(record)
    if name in _SELF:
        return ref
    if name in ("items", "keys", "values", "get", "pop", "update"):
        return container_method(run, ref, name, args, keywords, node)
    return UNKNOWN


def _moved(run: Interpreter, ref: Ref, places: list[Place | None], node: ast.Call) -> Value:
    """Graphs of DGL are moved to new ones, everything else in place.

    https://pytorch-geometric.readthedocs.io/en/latest/modules/data.html,
    https://www.dgl.ai/dgl_docs/generated/dgl.DGLGraph.to.html
    """
    record = run.record(ref)
    known = [place for place in places if place is not None]
    if not known:
        return ref
    place = known[0] if len(set(places)) == 1 else ANYWHERE
    run.facts.accelerated |= place == ACCELERATOR
    held = record.rest
    for birth in held.births if isinstance(held, Tensor) and held.place == CPU else ():
        run.facts.transfers.append(Transfer(birth, run.site(node, remember=True), node, place.kind))
    target = run.new(record) if record.name.startswith("dgl.") else ref
    _put(run, target, place)
    return target


def _moved_in_part(run: Interpreter, ref: Ref, places: list[Place | None], names: list[Value]) -> Value:
    """``data.to(device, "x", "y")``: the tensors of these names move, the others stay."""
    place = places[0] if len(places) == 1 and places[0] is not None else ANYWHERE
    for name in names:
        if isinstance(name, Const) and isinstance(name.value, str):
            run.now.put(ref, name.value, Tensor(place, loose=True))
    run.now.update(ref, info=(*run.record(ref).info, ("in-part", True)))
    return ref


def _put(run: Interpreter, ref: Ref, place: Place) -> None:
    record = run.record(ref)
    fields = {name: delivered(run, value, place) for name, value in record.fields.items()}
    rest = delivered(run, record.rest, place) if record.rest is not None else None
    run.now.update(ref, fields=fields, rest=rest, info=tuple(pair for pair in record.info if pair[0] != "batch"))


def delivered(run: Interpreter, value: Value, place: Place = ACCELERATOR) -> Value:
    """A batch as it arrives when something has brought all its tensors to ``place``."""
    match value:
        case Tensor():
            return replace(value, place=place, births=())
        case TupleValue(items):
            return TupleValue(tuple(delivered(run, item, place) for item in items))
        case Union(alternatives):
            return union(delivered(run, option, place) for option in alternatives)
        case Yields(inner) if not isinstance(inner, Text):
            return Yields(delivered(run, inner, place))
        case Ref() if run.record(value).kind in ("bundle", "dict", "list"):
            copy = run.new(run.record(value))
            _put(run, copy, place)
            return copy
    return value
