"""Containers of the standard library: deques, queues, heaps, dictionaries, named tuples, and data classes."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.domain.joins import equal_or
from devfix.analysis.domain.objects import HeapObject, Mapping, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Const,
    External,
    Keywords,
    Pointer,
    TupleValue,
    Value,
    join,
)
from devfix.analysis.stdlib import builtins
from devfix.analysis.stdlib.containers import DictObject, ListObject
from devfix.analysis.stdlib.texts import is_name
from devfix.syntax.tree import implicit_call

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


@dataclass(frozen=True)
class DefaultDictObject(DictObject):
    """A ``defaultdict``; ``factory`` makes its missing items."""

    factory: Value = field(default=UNKNOWN, metadata=equal_or(UNKNOWN))

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return an item; a missing one is made and kept."""
        if name in self.fields or self.factory == NONE:
            return super().item(interp, pointer, name, node)
        made = self.default_item
        if made is None:
            made = interp.call(self.factory, [], {}, implicit_call(node))
            if name is not None:
                interp.now.set_field(pointer, name, made)
            else:
                interp.now.update(pointer, default_item=made)
        return made if name is not None else join((made, *self.fields.values()))


def _sequence(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtins.call(interp, "list", args, keywords, node)


@dataclass(frozen=True)
class QueueObject(ListObject):
    """A queue between threads or processes: ``get`` returns the first item, or the last one of a ``LifoQueue``."""

    is_last_first: bool = field(default=False, metadata=equal_or(False))

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method; how long it waits does not matter."""
        match name:
            case "put" | "put_nowait":
                return super().method(interp, pointer, "append", args[:1], {}, node)
            case "get" | "get_nowait":
                return super().method(interp, pointer, "pop" if self.is_last_first else "popleft", [], {}, node)
        return super().method(interp, pointer, name, args, keywords, node)


def _queue(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return interp.new(QueueObject(is_last_first=name.endswith(".LifoQueue")))


def _dictionary(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtins.call(interp, "dict", args, keywords, node)


def _default_dict(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    made = builtins.call(interp, "dict", args[1:], keywords, node)
    items = interp.heap_object(made) if isinstance(made, Pointer) else DictObject()
    factory = args[0] if args else NONE
    return interp.new(DefaultDictObject(fields=items.fields, default_item=items.default_item, factory=factory))


def _named_tuple(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``namedtuple("Step", "state action")``: return a class like ``class Step(NamedTuple)``."""
    assert interp.activation is not None
    names = _field_names(interp, args[1] if len(args) > 1 else keywords.get("field_names", UNKNOWN), node)
    called = args[0].value if args and isinstance(args[0], Const) else None
    if not names or not isinstance(called, str) or not is_name(called):
        return UNKNOWN
    fields = "".join(f"    {each}: object\n" for each in names)
    stmt = ast.parse(f"class {called}(NamedTuple):\n{fields}").body[0]
    assert isinstance(stmt, ast.ClassDef)
    for inner in ast.walk(stmt):
        if hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return ClassValue(stmt, interp.activation.module, (External("typing.NamedTuple"),), interp.new_env())


def _field_names(interp: Interpreter, sequence: Value, node: ast.Call) -> list[str]:
    """Return the field names of ``"state action"``, ``"state, action"``, ``["state"]`` or ``[("state", Tensor)]``."""
    if isinstance(sequence, Const) and isinstance(sequence.value, str):
        found: list[object] = [*sequence.value.replace(",", " ").split()]
    else:
        items = interp.elements(sequence, node) or []
        first = [item.items[0] if isinstance(item, TupleValue) and item.items else item for item in items]
        found = [item.value if isinstance(item, Const) else None for item in first]
    names = [name for name in found if isinstance(name, str) and is_name(name)]
    return names if len(names) == len(found) else []


def _chained(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``ChainMap(first, second)``: what the first one lacks is the second one's."""
    mappings = [object_at(interp, each, Mapping) for each in args]
    if any(each is None for each in mappings):
        return UNKNOWN
    fields = {key: item for each in reversed(mappings) if each is not None for key, item in each.fields.items()}
    return interp.new(DictObject(fields=fields))


def _pushed(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``heapq.heappush(heap, item)``."""
    if len(args) == 2 and isinstance(args[0], Pointer):
        interp.now.update(args[0], default_item=join([*interp.heap_object(args[0]).contents, args[1]]), fields={})
    return NONE


def _popped(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``heapq.heappop(heap)``."""
    return interp.element(args[0], node) if args else UNKNOWN


def _as_dictionary(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``dataclasses.asdict(instance)``."""
    instance = object_at(interp, args[0], HeapObject) if args else None
    return interp.new(DictObject(fields=dict(instance.fields))) if instance is not None else UNKNOWN


def _replaced(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``dataclasses.replace(instance, field=value)``."""
    instance = object_at(interp, args[0], HeapObject) if args else None
    if instance is None or "**" in keywords:
        return UNKNOWN
    return interp.new(replace(instance, fields={**instance.fields, **keywords}))


OVERLAYS: dict[str, TransferFunction] = {
    "collections.ChainMap": _chained,
    "collections.OrderedDict": _dictionary,
    "collections.defaultdict": _default_dict,
    "collections.deque": _sequence,
    "collections.namedtuple": _named_tuple,
    "dataclasses.asdict": _as_dictionary,
    "dataclasses.replace": _replaced,
    "heapq.heappop": _popped,
    "heapq.heappush": _pushed,
    "queue.LifoQueue": _queue,
    "queue.Queue": _queue,
}
