"""Lists, sets, dictionaries and strings, and values that may be containers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from devfix.analysis import attribute_stores
from devfix.analysis.domain.device_parsing import UNKNOWN_INDEX, parse_device
from devfix.analysis.domain.objects import Container, HeapObject, Mapping, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    Const,
    DeviceValue,
    IterableOf,
    Keywords,
    Number,
    Origin,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    join,
)
from devfix.analysis.observations.execution import ItemAdded
from devfix.analysis.stdlib.items import (
    escape_fields,
    is_non_string_key,
    is_unrollable,
    named_by_index,
    setting_after_write,
    sliced,
    unpack_fields,
)
from devfix.analysis.stdlib.texts import composed

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "DictObject",
    "ListObject",
    "SetObject",
    "container_method",
    "maybe_container_method",
    "new_list",
    "observe_items",
    "text_method",
]

MOST_ITEMS = 32


@dataclass(frozen=True)
class _Items(Container):
    """What lists, sets and dictionaries have in common."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method."""
        return container_method(interp, pointer, name, args, keywords, node)

    def moved(self, move: Callable[[Value], Value]) -> HeapObject:
        """Return a container of moved items."""
        return replace(self.transformed(lambda _, item: move(item)), position=None)

    def escape(self, interp: Interpreter, pointer: Pointer, depth: int) -> None:
        """Pass the items to code that cannot be read."""
        escape_fields(self, interp, pointer, depth)

    def set_item(self, interp: Interpreter, pointer: Pointer, key: Value, value: Value, node: ast.AST) -> None:
        """Set an item."""
        super().set_item(interp, pointer, key, attribute_stores.tag_added(interp, pointer, value), node)

    def other_item(self, interp: Interpreter, pointer: Pointer, name: str | None) -> Value:
        """Return the join of the items for an unknown key."""
        if name is None and self.fields:
            return join(self.fields.values())
        return super().other_item(interp, pointer, name)


@dataclass(frozen=True)
class ListObject(_Items):
    """A list."""

    builtin: ClassVar[str] = "list"
    pattern_names: ClassVar[tuple[str, ...]] = ("list", "Sequence")

    def elements(self, interp: Interpreter, pointer: Pointer) -> list[Value] | None:
        """Return the items if they are known and few."""
        is_known = self.default_item is None and self.fields and is_unrollable(interp, self.fields.values())
        return list(self.fields.values()) if is_known else None

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return the join of the items."""
        return join(self.contents) if self.contents else UNKNOWN

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the items."""
        return unpack_fields(self, count)

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return the join of the items."""
        return join(self.contents) if self.contents else UNKNOWN

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return an item, or the list of a slice."""
        if isinstance(node.slice, ast.Slice):
            if self.default_item is None:
                return new_list(interp, sliced(list(self.fields.values()), node.slice))
            return interp.new(ListObject(default_item=join(self.contents)))
        return super().item(interp, pointer, named_by_index(self, name), node)

    def set_item(self, interp: Interpreter, pointer: Pointer, key: Value, value: Value, node: ast.AST) -> None:
        """Set an item, or the items of a slice."""
        if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
            super().set_item(interp, pointer, key, value, node)
            return
        known, is_whole = interp.elements(value, node), node.slice.lower is None and node.slice.upper is None
        if known is not None and is_whole:
            fields = {str(index): attribute_stores.tag_added(interp, pointer, item) for index, item in enumerate(known)}
            interp.now.update(pointer, fields=fields, default_item=None)
        else:
            super().set_item(interp, pointer, UNKNOWN, interp.element(value, node), node)


@dataclass(frozen=True)
class SetObject(ListObject):
    """A set."""

    builtin: ClassVar[str] = "set"
    pattern_names: ClassVar[tuple[str, ...]] = ("set",)

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return unknown values: a set has no order."""
        return [UNKNOWN] * count


@dataclass(frozen=True)
class DictObject(_Items, Mapping):
    """A dictionary."""

    builtin: ClassVar[str] = "dict"
    pattern_names: ClassVar[tuple[str, ...]] = ("dict", "Mapping")

    def elements(self, interp: Interpreter, pointer: Pointer) -> list[Value] | None:
        """Return the keys if they are known and few."""
        is_known = self.default_item is None and self.fields and is_unrollable(interp, self.fields.values())
        return [Const(key) for key in self.fields] if is_known else None

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return the join of the keys."""
        return join(Const(key) for key in self.fields) if self.fields and self.default_item is None else Text()

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the keys."""
        return [Const(key) for key in self.fields] if len(self.fields) == count else [Text()] * count

    def set_item(self, interp: Interpreter, pointer: Pointer, key: Value, value: Value, node: ast.AST) -> None:
        """Set an item, and note a key that is no string."""
        if is_non_string_key(key) and not self.odd_keys:
            interp.now.update(pointer, odd_keys=True)
        super().set_item(interp, pointer, key, value, node)

    def after_unknown_write(self, pointer: Pointer, name: str, value: Value) -> Value:
        """Return a setting as unknown."""
        return setting_after_write(self, pointer, name, value)

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether a mapping is asked for."""
        return name == "builtins.dict" or name.endswith("Mapping")


def new_list(interp: Interpreter, items: Sequence[Value]) -> Pointer:
    """Create a list of known items."""
    return interp.new(ListObject(fields={str(index): item for index, item in enumerate(items)}))


def observe_items(interp: Interpreter, container: Pointer, expression: ast.expr) -> None:
    """Observe the items of a new list as additions of ``expression``."""
    obj = interp.heap_object(container)
    observed = obj.transformed(lambda _, item: interp.observe(ItemAdded(item, container, expression)).value)
    interp.now.write(container.id, observed)


def container_method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call a method of a list, set, dictionary or instance."""
    obj = interp.heap_object(pointer)
    args = [attribute_stores.tag_added(interp, pointer, value) for value in args]
    contents = obj.contents
    match name:
        case "append" | "add" if args:
            if node.args and not isinstance(node.args[0], ast.Starred):
                args = [interp.observe(ItemAdded(args[0], pointer, node.args[0])).value]
            if pointer.id > interp.round_start and obj.default_item is None and len(obj.fields) < MOST_ITEMS:
                interp.now.set_field(pointer, str(len(obj.fields)), args[0])
            else:
                interp.now.update(
                    pointer, default_item=args[0] if obj.default_item is None else join((obj.default_item, args[0]))
                )
            return NONE
        case "insert" if len(args) > 1:
            _insert(interp, pointer, args[0], args[1])
            return NONE
        case "appendleft" if args:
            _insert(interp, pointer, Const(0), args[0])
            return NONE
        case "extend" | "extendleft" if args:
            known = interp.elements(args[0], node)
            added = known if known is not None else [interp.element(args[0], node)]
            if known is not None and obj.default_item is None and pointer.id > interp.round_start:
                for item in added:
                    interp.now.set_field(pointer, str(len(interp.heap_object(pointer).fields)), item)
            else:
                interp.now.update(
                    pointer, default_item=join([*added, *([obj.default_item] if obj.default_item is not None else [])])
                )
            return NONE
        case "update":
            other = args[0] if args else None
            if isinstance(other, Pointer):
                other_object = interp.heap_object(other)
                interp.now.update(
                    pointer,
                    fields={**obj.fields, **other_object.fields},
                    default_item=other_object.default_item or obj.default_item,
                )
            elif other is not None:
                interp.now.update(pointer, default_item=UNKNOWN)
            for key, value in keywords.items():
                interp.now.set_field(pointer, key, value)
            return NONE
        case "items":
            if obj.fields and obj.default_item is None and is_unrollable(interp, contents):
                pairs = {str(i): TupleValue((Const(k), v)) for i, (k, v) in enumerate(obj.fields.items())}
                return interp.new(ListObject(fields=dict(pairs)))
            return IterableOf(TupleValue((Text(), join(contents) if contents else UNKNOWN)))
        case "values":
            if obj.fields and obj.default_item is None:
                return TupleValue(tuple(obj.fields.values()))
            return IterableOf(join(contents) if contents else UNKNOWN)
        case "keys":
            return (
                TupleValue(tuple(Const(key) for key in obj.fields)) if obj.default_item is None else IterableOf(Text())
            )
        case "setdefault" if len(args) == 2 and isinstance(args[0], Const):
            key = str(args[0].value)
            if key not in obj.fields:
                interp.now.set_field(pointer, key, args[1])
            return obj.fields.get(key, args[1])
        case "get" | "pop" | "setdefault" if args or not isinstance(obj, ListObject):
            return _item(obj, args)
        case "pop":
            return _end(obj, -1)
        case "popleft":
            return _end(obj, 0)
        case "popitem":
            is_known = bool(obj.fields) and obj.default_item is None
            last = next(reversed(obj.fields)) if is_known else ""
            return TupleValue((Const(last), obj.fields[last]) if is_known else (Text(), join(contents)))
        case "copy":
            return interp.new(obj)
        case "state_dict":
            return Unknown("state_dict")
    interp.escape([*args, *keywords.values()])
    return UNKNOWN


def _insert(interp: Interpreter, pointer: Pointer, index: Value, value: Value) -> None:
    """Execute ``items.insert(index, value)``."""
    obj = interp.heap_object(pointer)
    place = index.value if isinstance(index, Const) else None
    is_known = obj.default_item is None and len(obj.fields) < MOST_ITEMS and pointer.id > interp.round_start
    if is_known and isinstance(place, int):
        items = list(obj.fields.values())
        items.insert(place, value)
        interp.now.update(pointer, fields={str(number): item for number, item in enumerate(items)})
    else:
        item = join([*obj.contents, value])
        interp.now.update(pointer, fields=dict.fromkeys(obj.fields, item), default_item=item)


def _item(obj: HeapObject, args: list[Value]) -> Value:
    contents = obj.contents
    default = args[1] if len(args) > 1 else NONE
    if args and isinstance(args[0], Const):
        found = obj.fields.get(named_by_index(obj, str(args[0].value)) or "", obj.default_item)
        return found if found is not None else default
    return join([*contents, default]) if contents else UNKNOWN


def _end(obj: HeapObject, index: int) -> Value:
    """Return the first or the last item of a list, a deque or a queue, as far as it is known which that is."""
    items = list(obj.fields.values())
    if obj.default_item is not None:
        return join(obj.contents)
    return items[index] if items else UNKNOWN


def maybe_container_method(
    interp: Interpreter, value: Tensor, name: str, args: list[Value], node: ast.Call
) -> Value | None:
    """Call a container method of a value that may be a container; return ``None`` if it is a tensor method."""
    inner = replace(value, origins=tuple(Origin(b.kind, b.site_id, (*b.path, "*")) for b in value.origins))
    if name == "items":
        return IterableOf(TupleValue((Text(), inner)))
    if name == "values":
        return IterableOf(inner)
    if name == "keys":
        return IterableOf(Text())
    if name in ("get", "pop") and args:
        key = str(args[0].value) if isinstance(args[0], Const) else "*"
        if value.device != CPU and not value.origins:
            return replace(value, is_certain=False)
        return replace(value, origins=tuple(Origin(b.kind, b.site_id, (*b.path, key)) for b in value.origins))
    if name in ("eval", "train", "state_dict"):
        return value
    if name == "update" and isinstance(node.func, ast.Attribute):
        target = ast.copy_location(ast.Subscript(node.func.value, ast.Name("key", ast.Load()), ast.Store()), node)
        for added in args:
            obj = object_at(interp, added, DictObject)
            for key, item in obj.fields.items() if obj is not None else ():
                interp.set_item(interp.evaluate(node.func.value), Const(key), item, target)
            if obj is None or obj.default_item is not None:
                rest = UNKNOWN if obj is None or obj.default_item is None else obj.default_item
                interp.set_item(interp.evaluate(node.func.value), UNKNOWN, rest, target)
        return NONE
    if name == "copy" and value.origins:  # another object: what is written to it does not change this one
        place = node.lineno * 1_000 + node.col_offset
        return replace(value, origins=tuple(replace(each, attribute_id=place) for each in value.origins))
    return None


# Methods of a string whose results are computed, and the most strings that they take
_MOST_GIVEN = {"lower": 0, "upper": 0, "strip": 1, "lstrip": 1, "rstrip": 1, "replace": 2}


def text_method(value: Value, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call a method of a string."""
    text = value.value if isinstance(value, Const) else None
    if name == "format" and isinstance(text, str):
        device = parse_device(text.split("{")[0].rstrip(":") or "-")
        if device is not None:
            return DeviceValue(device, text=True, symbol=UNKNOWN_INDEX)
        return composed([value, *args], node) if args and not keywords else Text()
    given = [arg.value for arg in args if isinstance(arg, Const) and isinstance(arg.value, str)]
    if isinstance(text, str) and _MOST_GIVEN.get(name, -1) >= len(given) == len(args) and not keywords:
        return Const(getattr(text, name)(*given)) if len(given) == 2 or name != "replace" else Text()
    affix = args[0].value if args and isinstance(args[0], Const) else None
    if isinstance(text, str) and isinstance(affix, str) and name in ("startswith", "endswith"):
        return Const(getattr(text, name)(affix))
    if name in ("split", "splitlines", "rsplit"):
        return IterableOf(Text())
    if name in ("find", "index", "count"):
        return Number()
    return Text()
