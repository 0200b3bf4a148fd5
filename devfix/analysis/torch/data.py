"""Datasets, data loaders, samplers, and iterators over them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Function,
    HeapObject,
    IterableOf,
    Keywords,
    Number,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.torch import batches, rng

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "make_loader"]


def make_loader(
    interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call, into: Pointer | None = None
) -> Value:
    """Create a ``DataLoader``, in ``into`` if that is an instance of a project subclass.

    Its batches are computed when it is iterated.
    """
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
    obj = HeapObject(
        "loader",
        "torch.utils.data.DataLoader",
        fields=fields,
        allocated_at=interp.point(node, True),
        info=(("pinned", known), *flags),
    )
    if into is not None:
        subclass = interp.heap_object(into)
        interp.now.write(into.id, replace(obj, cls=subclass.cls, fields={**subclass.fields, **fields}))
        return into
    return interp.new(obj)


def _is_on(value: Value | None) -> bool:
    return isinstance(value, Const) and bool(value.value)


def _loader(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return make_loader(interp, args, keywords, node)


def _tensor_dataset(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    tensors = [option for value in args for option in alternatives(value) if isinstance(option, Tensor)]
    interp.observations.dataset_values.update(
        origin.site_id for tensor in tensors for origin in tensor.origins if origin.kind == "made"
    )
    items = tuple(replace(value, origins=()) if isinstance(value, Tensor) else value for value in args)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    unknown = starred or any(not isinstance(value, Tensor) for value in items)
    sample: Value = TupleValue(items)
    if starred and not all(isinstance(value, Tensor) for value in items):
        sample = Tensor(UNKNOWN_DEVICE, maybe_container=True)
    elif unknown:
        sample = TupleValue(tuple(v if isinstance(v, Tensor) else Tensor(UNKNOWN_DEVICE) for v in items))
    return interp.new(HeapObject("dataset", name, fields={"sample": sample}, allocated_at=interp.point(node)))


def _same_dataset(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    if name.endswith("ConcatDataset"):
        source = interp.element(source, node)
    return interp.new(HeapObject("dataset", name, fields={"dataset": source}, allocated_at=interp.point(node)))


def _split_dataset(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    part = _same_dataset(interp, name, args, keywords, node)
    generator = args[2] if len(args) > 2 else keywords.get("generator")
    rng.draw(interp, generator, interp.default_device, "split", node)
    lengths = args[1] if len(args) > 1 else keywords.get("lengths", UNKNOWN)
    known = interp.elements(lengths, node)
    return TupleValue((part,) * len(known)) if known else IterableOf(part)


def _image_dataset(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    transform = keywords.get("transform", args[1] if len(args) > 1 else NONE)
    image = Tensor(CPU)
    if isinstance(transform, (Function, Pointer)) and not _of_torchvision(interp, transform):
        image = Tensor(CPU, is_certain=False, maybe_container=True)  # a project transform may return several views
    sample = TupleValue((image, Number()))
    return interp.new(HeapObject("dataset", name, fields={"sample": sample}, allocated_at=interp.point(node)))


def _of_torchvision(interp: Interpreter, value: Value) -> bool:
    return isinstance(value, Pointer) and interp.heap_object(value).name.startswith("torchvision.")


def _default_collate(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return batches.collate(interp, interp.element(args[0], node)) if args else UNKNOWN


def _chain(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.endswith("from_iterable"):
        args = [interp.element(value, node) for value in args]
    return interp.new(HeapObject("list", default_item=join(_held(interp, value, node) for value in args)))


def _held(interp: Interpreter, value: Value, node: ast.AST) -> Value:
    return interp.element(value, node)


def _zip_longest(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(TupleValue(tuple(interp.element(value, node) for value in args)))


OVERLAYS: dict[str, TransferFunction] = {
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain,
    "itertools.zip_longest": _zip_longest,
    "torch.utils.data.ConcatDataset": _same_dataset,
    "torch.utils.data.DataLoader": _loader,
    "torch.utils.data.RandomSampler": rng.sampler,
    "torch.utils.data.Subset": _same_dataset,
    "torch.utils.data.SubsetRandomSampler": rng.sampler,
    "torch.utils.data.TensorDataset": _tensor_dataset,
    "torch.utils.data.WeightedRandomSampler": rng.sampler,
    "torch.utils.data.default_collate": _default_collate,
    "torch.utils.data.random_split": _split_dataset,
    "torchvision.datasets._Images": _image_dataset,
}
