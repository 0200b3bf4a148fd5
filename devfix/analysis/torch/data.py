"""Datasets, loaders, and the iterators around them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Const,
    Function,
    Keywords,
    Number,
    Place,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.torch import batches, rng
from devfix.analysis.transfer import iteration

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["BEHAVIOURS", "make_loader"]
Behaviour = Callable[["Interpreter", str, list[Value], Keywords, ast.Call], Value]


def make_loader(
    run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call, into: Ref | None = None
) -> Value:
    """A ``DataLoader``; what it yields is worked out when it is iterated."""
    fields: dict[str, Value] = {"dataset": args[0] if args else keywords.get("dataset", UNKNOWN)}
    fields.update({key: keywords[key] for key in ("collate_fn", "generator", "sampler") if key in keywords})
    fields["shuffle"] = keywords.get("shuffle", args[2] if len(args) > 2 else NONE)
    pinned = keywords.get("pin_memory")
    known: bool | None = False if pinned is None else None
    if isinstance(pinned, Const):
        known = bool(pinned.value)
    elif pinned is not None:
        known = True
    if "**" in keywords:
        known = True if known is False else known
    flags = tuple((key, True) for key in ("pin_memory", "num_workers") if _is_on(keywords.get(key)))
    record = Record(
        "loader",
        "torch.utils.data.DataLoader",
        fields=fields,
        born=run.site(node, True),
        info=(("pinned", known), *flags),
    )
    if into is not None:
        held = run.record(into)
        run.now.write(into.id, replace(record, cls=held.cls, fields={**held.fields, **fields}))
        return into
    return run.new(record)


def _is_on(value: Value | None) -> bool:
    return isinstance(value, Const) and bool(value.value)


def _loader(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return make_loader(run, args, keywords, node)


def _tensor_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    held = [option for value in args for option in options(value) if isinstance(option, Tensor)]
    run.facts.in_datasets.update(birth.key for tensor in held for birth in tensor.births if birth.kind == "made")
    items = tuple(replace(value, births=()) if isinstance(value, Tensor) else value for value in args)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    unknown = starred or any(not isinstance(value, Tensor) for value in items)
    sample: Value = TupleValue(items)
    if starred and not all(isinstance(value, Tensor) for value in items):
        sample = Tensor(ANYWHERE, loose=True)
    elif unknown:
        sample = TupleValue(tuple(v if isinstance(v, Tensor) else Tensor(_data_place(v)) for v in items))
    return run.new(Record("dataset", name, fields={"sample": sample}, born=run.site(node)))


def _data_place(value: Value) -> Place:
    """A tensor of unknown origin inside a dataset: nothing has sent it to a device that devfix has seen."""
    return ANYWHERE


def _same_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    if name.endswith("ConcatDataset"):
        source = iteration.element(run, source, node)
    return run.new(Record("dataset", name, fields={"dataset": source}, born=run.site(node)))


def _split_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    part = _same_dataset(run, name, args, keywords, node)
    generator = args[2] if len(args) > 2 else keywords.get("generator")
    rng.draw(run, generator, run.default_place, "split", node)
    lengths = args[1] if len(args) > 1 else keywords.get("lengths", UNKNOWN)
    known = iteration.elements(run, lengths, node)
    return TupleValue((part,) * len(known)) if known else Yields(part)


def _image_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    transform = keywords.get("transform", args[1] if len(args) > 1 else NONE)
    image = Tensor(CPU)
    if isinstance(transform, (Function, Ref)) and not _of_torchvision(run, transform):
        image = Tensor(CPU, sure=False, loose=True)  # a transform of the project may give several views
    sample = TupleValue((image, Number()))
    return run.new(Record("dataset", name, fields={"sample": sample}, born=run.site(node)))


def _of_torchvision(run: Interpreter, value: Value) -> bool:
    return isinstance(value, Ref) and run.record(value).name.startswith("torchvision.")


def _default_collate(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return batches.collate(run, iteration.element(run, args[0], node)) if args else UNKNOWN


def _passes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else keywords.get("iterable", keywords.get("sequence", UNKNOWN))


def _chain(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.endswith("from_iterable"):
        args = [iteration.element(run, value, node) for value in args]
    return run.new(Record("list", rest=union(_held(run, value, node) for value in args)))


def _held(run: Interpreter, value: Value, node: ast.AST) -> Value:
    return iteration.element(run, value, node)


def _zip_longest(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Yields(TupleValue(tuple(iteration.element(run, value, node) for value in args)))


BEHAVIOURS: dict[str, Behaviour] = {
    "chain": _chain,
    "sampler": rng.sampler,
    "default-collate": _default_collate,
    "image-dataset": _image_dataset,
    "loader": _loader,
    "passes": _passes,
    "same-dataset": _same_dataset,
    "split-dataset": _split_dataset,
    "tensor-dataset": _tensor_dataset,
    "zip-longest": _zip_longest,
}
