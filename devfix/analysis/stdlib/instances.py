"""Instances of project classes, and namespaces of options."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.classes import external_bases, find_member, is_named_tuple
from devfix.analysis.domain.objects import BatchPart, BatchSource
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    Const,
    Function,
    IterableOf,
    Keywords,
    Number,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    join,
)
from devfix.analysis.stdlib.containers import DictObject, ListObject, container_method, new_list
from devfix.analysis.stdlib.items import escape_fields, is_unrollable, setting_after_write, unpack_fields
from devfix.analysis.torch import batches, checkpoints, data_sources
from devfix.syntax.tree import implicit_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["MAPPINGS", "InstanceObject", "item_by_method", "iterated", "sample_of"]

MAPPINGS = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "easydict.EasyDict", "addict.Dict"}
)  # bases whose instances are dictionaries of their items

_BARE = frozenset({"builtins.object", "object", "abc.ABC"})  # bases without iteration
_MOVES = frozenset({"to", "cuda", "cpu", "xpu"})
_TUPLE_METHODS = frozenset({"_asdict", "_replace"})  # of named tuples
_DICTIONARY_METHODS = frozenset("items keys values update".split())
_VIEWS = frozenset({"items", "keys", "values"})
_ABSTRACT_MAPPINGS = frozenset(
    f"{module}.{name}" for module in ("collections.abc", "typing") for name in ("Mapping", "MutableMapping")
)  # bases that make their methods of the class's ``__iter__`` and ``__getitem__``


@dataclass(frozen=True)
class InstanceObject(BatchPart, BatchSource):
    """An instance of a project class that is no module, or a namespace."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method of the instance's ``__dict__``, or one that a library class defines."""
        if name in _TUPLE_METHODS and is_named_tuple(interp, pointer):
            if name == "_replace":
                return interp.new(replace(self, fields={**self.fields, **keywords}))
            return interp.new(DictObject(fields=dict(self.fields)))
        run = find_member(interp, self.cls, "run") if name == "start" and self.cls is not None else None
        if isinstance(run, Function):
            return interp.call(Bound(run, pointer), [], {}, node)  # of a thread or a process
        if name in _VIEWS and self._is_abstract_mapping():
            return _view(interp, pointer, name, node)
        if name == "update":
            checkpoints.note_kept(interp, args, node)
        if name in _MOVES:
            interp.escape([pointer])  # the base class moves what it knows: ``pipeline.to(device)``
            return pointer
        return container_method(interp, pointer, name, args, keywords, node)

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return ``__dict__``, what ``__getattr__`` returns, or an unknown value."""
        if name == "__dict__":
            return pointer
        if name in _TUPLE_METHODS and is_named_tuple(interp, pointer):
            return Builtin(pointer, name)
        if name == "start" and self.cls is not None and not _BARE.issuperset(external_bases(self.cls)):
            return Builtin(pointer, name)
        if name in _DICTIONARY_METHODS and self.cls is not None and self._is_mapping(interp):
            return Builtin(pointer, name)  # the class of Python has it, before ``__getattr__`` is asked
        if name in _VIEWS and self._is_abstract_mapping():
            return Builtin(pointer, name)
        getter = find_member(interp, self.cls, "__getattr__") if self.cls is not None else None
        if isinstance(getter, Function):
            call = implicit_call(node, name)
            return interp.call(Bound(getter, pointer), [Const(name)], {}, call)
        if self.cls is not None and name in _MOVES and not _BARE.issuperset(external_bases(self.cls)):
            return Builtin(pointer, name)
        if name in _DICTIONARY_METHODS and (self.cls is None or "?" not in external_bases(self.cls)):
            return Builtin(pointer, name)  # of its ``__dict__``
        return Unknown(f"{self.name or 'object'}#{pointer.id}.{name}")

    def elements(self, interp: Interpreter, pointer: Pointer) -> list[Value] | None:
        """Return the items of a named tuple, the keys of a mapping, or the names of another object's attributes."""
        if self.default_item is not None or not self.fields or not is_unrollable(interp, self.fields.values()):
            return None
        if is_named_tuple(interp, pointer):
            return list(self.fields.values())
        return [Const(key) for key in self.fields] if self._is_plain(interp) or self._is_mapping(interp) else None

    def _is_mapping(self, interp: Interpreter) -> bool:
        """Return whether the object is a namespace, or one of a class that iterates over keys as a dictionary does."""
        if self.cls is None:
            return True
        bases = MAPPINGS.intersection(external_bases(self.cls))
        return bool(bases) and find_member(interp, self.cls, "__iter__") is None

    def _is_abstract_mapping(self) -> bool:
        return self.cls is not None and not _ABSTRACT_MAPPINGS.isdisjoint(external_bases(self.cls))

    def _is_plain(self, interp: Interpreter) -> bool:
        """Return whether a project object is not iterable; if it is iterated, it represents its ``vars()``."""
        if self.cls is None:
            return False
        methods = ("__iter__", "__getitem__")
        return set(external_bases(self.cls)) <= _BARE and not any(find_member(interp, self.cls, m) for m in methods)

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return an element of a named tuple, of what ``__iter__`` returns, or of a dataset."""
        if is_named_tuple(interp, pointer):
            return join(self.contents) if self.contents else UNKNOWN
        if self._is_mapping(interp):
            return Text()
        found = iterated(interp, self.cls, pointer, node, moved)
        if found is not None:
            return found
        one = batches.sample(interp, pointer, node)
        if isinstance(one, Unknown):
            return None
        return batches.tag_origins(interp, one, data_sources.source_key(interp, "batch", node), ())

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the fields: those of a named tuple."""
        return unpack_fields(self, count)

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return what ``__getitem__`` or ``__iter__`` yields."""
        return sample_of(interp, self.cls, pointer, node)

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return what ``__getitem__`` returns, or an attribute."""
        found = item_by_method(interp, self.cls, pointer, name, node)
        return found if found is not None else super().item(interp, pointer, name, node)

    def other_item(self, interp: Interpreter, pointer: Pointer, name: str | None) -> Value:
        """Return an attribute with a computed name as unknown."""
        if name is None:
            return attribute_stores.computed_attribute(interp, pointer)
        return super().other_item(interp, pointer, name)

    def after_unknown_write(self, pointer: Pointer, name: str, value: Value) -> Value:
        """Return a setting as unknown."""
        return setting_after_write(self, pointer, name, value)

    def in_batch(self, position: tuple[int, tuple[str, ...]], tag: Callable[[str, Value], Value]) -> BatchPart | None:
        """Return an instance of a project class as a part of a batch."""
        return super().in_batch(position, tag) if self.cls is not None else None

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether it is an instance of a class; a project class without further bases is no built-in one."""
        if name.startswith("builtins.") and name not in _BARE and self.cls is not None:
            return False if _BARE.issuperset(external_bases(self.cls)) else None
        return super().is_a(cls, name)

    def escape(self, interp: Interpreter, pointer: Pointer, depth: int) -> None:
        """Pass the fields to code that cannot be read."""
        escape_fields(self, interp, pointer, depth)


def iterated(
    interp: Interpreter, cls: ClassValue | None, pointer: Pointer, node: ast.AST, moved: frozenset[str]
) -> Value | None:
    """Return an element of what a class's ``__iter__`` returns; ``None`` if it has no such method."""
    is_async = cls is not None and find_member(interp, cls, "__aiter__") is not None
    iterator = interp.attribute(pointer, "__aiter__" if is_async else "__iter__", node) if cls is not None else UNKNOWN
    if not isinstance(iterator, Bound):
        return None
    result = interp.call(iterator, [], {}, implicit_call(node))
    if result != pointer:
        return interp.element(result, node, moved)
    step = interp.attribute(pointer, "__anext__" if is_async else "__next__", node)
    return interp.call(step, [], {}, implicit_call(node)) if isinstance(step, Bound) else UNKNOWN


def _view(interp: Interpreter, mapping: Pointer, name: str, node: ast.Call) -> Value:
    """Return the keys, values or items that a class yields by ``__iter__`` and ``__getitem__``, as a list."""
    iterator, getter = (interp.attribute(mapping, method, node) for method in ("__iter__", "__getitem__"))
    if not (isinstance(iterator, Bound) and isinstance(getter, Bound)):
        return UNKNOWN
    iterable = interp.call(iterator, [], {}, implicit_call(node))
    known = interp.elements(iterable, node)
    keys = [interp.element(iterable, node, frozenset())] if known is None else known
    found = keys if name == "keys" else [interp.call(getter, [key], {}, implicit_call(node, "item")) for key in keys]
    if name == "items":
        found = [TupleValue(pair) for pair in zip(keys, found, strict=True)]
    return interp.new(ListObject(default_item=join(found))) if known is None else new_list(interp, found)


def sample_of(interp: Interpreter, cls: ClassValue | None, dataset: Pointer, node: ast.AST) -> Value:
    """Return one item of a dataset of a project class."""
    if cls is None:
        return UNKNOWN
    getter = interp.attribute(dataset, "__getitem__", node)
    if isinstance(getter, Bound):
        return interp.call(getter, [Number("index")], {}, implicit_call(node))
    iterator = interp.attribute(dataset, "__iter__", node)
    if isinstance(iterator, Bound):
        result = interp.call(iterator, [], {}, implicit_call(node))
        return result.element if isinstance(result, IterableOf) else UNKNOWN
    return UNKNOWN


def _is_of(interp: Interpreter, value: Value, cls: ClassValue | None) -> bool:
    return isinstance(value, Pointer) and cls is not None and interp.heap_object(value).cls == cls


def item_by_method(
    interp: Interpreter, cls: ClassValue | None, pointer: Pointer, name: str | None, node: ast.Subscript
) -> Value | None:
    """Return what a class's ``__getitem__`` returns; ``None`` if it has no such method."""
    getter = interp.attribute(pointer, "__getitem__", node) if cls is not None else UNKNOWN
    if not isinstance(getter, Bound):
        return None
    call = implicit_call(node, "item")
    result = interp.call(getter, [Const(name) if name is not None else Number("index")], {}, call)
    if not isinstance(result, (Tensor, TupleValue, Pointer)) or _is_of(interp, result, cls):
        return result  # ``points[0]`` of a class that wraps tensors is no item of a dataset
    return batches.tag_origins(interp, result, data_sources.source_key(interp, "batch", node), ())
