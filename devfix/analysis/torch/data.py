"""Datasets, data loaders, samplers, and iterators over them."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis import host_access
from devfix.analysis.domain.classes import external_bases
from devfix.analysis.domain.joins import UNION, equal_or
from devfix.analysis.domain.objects import BatchSource, HeapObject, Opaque, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    ClassValue,
    Const,
    Function,
    IterableOf,
    Keywords,
    Number,
    Pointer,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib.containers import ListObject, container_method
from devfix.analysis.stdlib.instances import item_by_method, iterated, sample_of
from devfix.analysis.torch import batches, rng
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.analysis.torch.data_sources import source_key
from devfix.models.index import lookup
from devfix.syntax.tree import implicit_call

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["LOADER", "OVERLAYS", "DatasetObject", "LoaderObject", "is_loader_class", "make_loader"]

LOADER = "torch.utils.data.DataLoader"


@dataclass(frozen=True)
class LoaderObject(BatchSource):
    """A ``DataLoader``, with its dataset and what selects and collates the samples as fields.

    Attributes:
        pinned: whether batches are in pinned memory; ``None`` if unknown.
        flags: those of ``pin_memory`` and ``num_workers`` that are on.

    """

    pinned: bool | None = field(default=None, metadata=equal_or(None))
    flags: frozenset[str] = field(default=frozenset(), metadata=UNION)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method of the library, also of a class that overrides it: ``super().__iter__()``."""
        return IterableOf(self._batch(interp, pointer, node)) if name == "__iter__" else UNKNOWN

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an argument that was not given, or a method."""
        return UNKNOWN if name in ("dataset", "collate_fn") else super().other_attribute(interp, pointer, name, node)

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return what the project's ``__getitem__`` returns."""
        found = item_by_method(interp, self.cls, pointer, name, node)
        return found if found is not None else UNKNOWN

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return what the ``__iter__`` of a project class yields, or else a batch."""
        own = iterated(interp, self.cls, pointer, node, moved)
        return own if own is not None else self._batch(interp, pointer, node)

    def _batch(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return a batch; the origin of each CPU tensor is its path in the batch."""
        key = source_key(interp, "batch", node, pointer, self.pinned)
        dataset = self.fields.get("dataset", UNKNOWN)
        one = batches.sample(interp, dataset, node)
        host_access.note_loader(interp, self, self.flags, one)
        rng.draw_of_loader(interp, self, node)
        collate_fn = self.fields.get("collate_fn")
        if collate_fn is None or collate_fn == NONE:
            device = UNKNOWN_DEVICE if batches.holds_moved_tensors(interp, dataset) else CPU
            made = device if batches.names_no_device(interp, dataset) else UNKNOWN_DEVICE
            return batches.tag_origins(interp, batches.collate(interp, one, device), key, (), device, made)
        samples = interp.new(ListObject(default_item=one))
        batch = interp.call(collate_fn, [samples], {}, implicit_call(node))
        if batch == samples and isinstance(one, Unknown):
            return batch  # a model that takes a list of samples, of which nothing is known, also moves what is in them
        host_access.note_loader(interp, self, self.flags, batch)
        device = UNKNOWN_DEVICE if batches.holds_moved_tensors(interp, collate_fn) else CPU
        if isinstance(batch, Unknown) or object_at(interp, batch, Opaque) is not None:
            batch = Tensor(device, is_certain=False, maybe_container=True)
        is_host = batches.names_no_device(interp, collate_fn) and batches.names_no_device(interp, dataset)
        return batches.tag_origins(interp, batch, key, (), device, device if is_host else UNKNOWN_DEVICE)

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return an item of a loader of the project as a dataset."""
        return sample_of(interp, self.cls, pointer, node)


@dataclass(frozen=True)
class DatasetObject(HeapObject):
    """A dataset of a library, with another dataset or a sample as its field."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method."""
        return container_method(interp, pointer, name, args, keywords, node)

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return the graph of a dataset with a single graph, or a method."""
        if name in ("data", "_data"):
            return batches.single_graph(interp, pointer, node)
        return super().other_attribute(interp, pointer, name, node)

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return a sample with its origin."""
        one = self.sample(interp, pointer, node)
        if isinstance(one, Unknown):
            return None
        return batches.tag_origins(interp, one, source_key(interp, "batch", node), ())

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the dataset: functions that return several of them are rare."""
        return [pointer] * count

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return an item."""
        inner = self.fields.get("dataset")
        return batches.sample(interp, inner, node) if inner is not None else self.fields.get("sample", UNKNOWN)

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return an item: a graph, or a tuple of tensors; a slice of graphs is a dataset."""
        one = self.sample(interp, pointer, node)
        if object_at(interp, one, BatchObject) is not None:
            if name is not None:
                return batches.single_graph(interp, pointer, node)
            return pointer if isinstance(node.slice, ast.Slice) else UNKNOWN
        if not _is_tuple_of_tensors(one):
            return UNKNOWN
        return batches.tag_origins(interp, one, source_key(interp, "batch", node), ())


def _is_tuple_of_tensors(value: Value) -> bool:
    """Return whether a dataset item is a tuple of certain tensors."""
    return isinstance(value, TupleValue) and all(isinstance(item, Tensor) and item.is_certain for item in value.items)


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
    flags = frozenset(key for key in ("pin_memory", "num_workers") if _is_on(keywords.get(key)))
    if not _forks(interp, keywords.get("multiprocessing_context", NONE)):
        flags -= {"num_workers"}
    point = interp.point(node, True)
    obj = LoaderObject(LOADER, fields=fields, allocated_at=point, pinned=known, flags=flags)
    if into is not None:
        subclass = interp.heap_object(into)
        interp.now.write(into.id, replace(obj, cls=subclass.cls, fields={**subclass.fields, **fields}))
        return into
    return interp.new(obj)


def start_method(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``multiprocessing.set_start_method``: decide whether worker processes are forked."""
    given = args[0] if args else keywords.get("method", UNKNOWN)
    interp.now.set_runtime(forks=given.value == "fork" if isinstance(given, Const) else None)
    return NONE


def _forks(interp: Interpreter, context: Value) -> bool:
    """Return whether a loader forks its workers: it was told no other context, nor was the program."""
    if context == NONE:
        return bool(interp.now.runtime.forks)
    return isinstance(context, Const) and context.value == "fork"


def is_loader_class(cls: ClassValue) -> bool:
    """Return whether a project class derives from ``DataLoader``, by any of its names."""
    models = [model for name in external_bases(cls) if (model := lookup(name)) is not None]
    return any(LOADER in (model.key, *model.bases) for model in models)


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
    return interp.new(DatasetObject(name, fields={"sample": sample}, allocated_at=interp.point(node)))


def _same_dataset(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    if name.endswith("ConcatDataset"):
        source = interp.element(source, node)
    return interp.new(DatasetObject(name, fields={"dataset": source}, allocated_at=interp.point(node)))


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
    return interp.new(DatasetObject(name, fields={"sample": sample}, allocated_at=interp.point(node)))


def _of_torchvision(interp: Interpreter, value: Value) -> bool:
    return isinstance(value, Pointer) and interp.heap_object(value).name.startswith("torchvision.")


def _default_collate(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return batches.collate(interp, interp.element(args[0], node)) if args else UNKNOWN


def _chain(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.endswith("from_iterable"):
        args = [interp.element(value, node) for value in args]
    return interp.new(ListObject(default_item=join(_held(interp, value, node) for value in args)))


def _held(interp: Interpreter, value: Value, node: ast.AST) -> Value:
    return interp.element(value, node)


def _zip_longest(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(TupleValue(tuple(interp.element(value, node) for value in args)))


OVERLAYS: dict[str, TransferFunction] = {
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain,
    "itertools.zip_longest": _zip_longest,
    "torch.utils.data.ConcatDataset": _same_dataset,
    LOADER: _loader,
    "torch.utils.data.RandomSampler": rng.sampler,
    "torch.utils.data.Subset": _same_dataset,
    "torch.utils.data.SubsetRandomSampler": rng.sampler,
    "torch.utils.data.TensorDataset": _tensor_dataset,
    "torch.utils.data.WeightedRandomSampler": rng.sampler,
    "torch.utils.data.default_collate": _default_collate,
    "torch.utils.data.random_split": _split_dataset,
    "torchvision.datasets._Images": _image_dataset,
}
