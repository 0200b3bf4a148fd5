"""Lists, sets, dictionaries and strings, and values that may be containers."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.device_parsing import UNKNOWN_INDEX, parse_device
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    Const,
    DeviceValue,
    HeapObject,
    IterableOf,
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

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["container_method", "is_unrollable", "maybe_container_method", "observe_items", "text_method"]

MOST_ITEMS = 32
MOST_ELEMENTS = 8
MOST_WITH_MODULES = 24


def is_unrollable(interp: Interpreter, contents: Collection[Value]) -> bool:
    """Return whether a loop is executed item by item: few items, or more if modules are among them."""
    most = MOST_ELEMENTS
    if most < len(contents) <= MOST_WITH_MODULES:
        last = [value.items[-1] if isinstance(value, TupleValue) and value.items else value for value in contents]
        if any(isinstance(value, Pointer) and interp.heap_object(value).kind == "module" for value in last):
            most = MOST_WITH_MODULES
    return len(contents) <= most


def observe_items(interp: Interpreter, container: Pointer, expression: ast.expr) -> None:
    """Observe the items of a new list as additions of ``expression``."""
    obj = interp.heap_object(container)
    fields = {name: interp.observe(ItemAdded(item, container, expression)).value for name, item in obj.fields.items()}
    rest = obj.default_item
    if rest is not None:
        rest = interp.observe(ItemAdded(rest, container, expression)).value
    interp.now.update(container, fields=fields, default_item=rest)


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
            if interp.loop_depth == 0 and obj.default_item is None and len(obj.fields) < MOST_ITEMS:
                interp.now.set_field(pointer, str(len(obj.fields)), args[0])
            else:
                interp.now.update(
                    pointer, default_item=args[0] if obj.default_item is None else join((obj.default_item, args[0]))
                )
            return NONE
        case "extend" if args:
            known = interp.elements(args[0], node)
            added = known if known is not None else [interp.element(args[0], node)]
            if known is not None and obj.default_item is None and interp.loop_depth == 0:
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
                return interp.new(HeapObject("list", fields=dict(pairs)))
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
        case "get" | "pop" | "setdefault":
            return _item(obj, args)
        case "copy":
            return interp.new(obj)
        case "state_dict":
            return Unknown("state_dict")
    if obj.kind in ("instance", "dataset", "list", "dict", "set"):
        interp.escape([*args, *keywords.values()])
    return UNKNOWN


def _item(obj: HeapObject, args: list[Value]) -> Value:
    contents = obj.contents
    default = args[1] if len(args) > 1 else NONE
    if args and isinstance(args[0], Const):
        found = obj.fields.get(str(args[0].value), obj.default_item)
        return found if found is not None else default
    if not args and obj.fields:
        return list(obj.fields.values())[-1]
    return join([*contents, default]) if contents else UNKNOWN


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
            return value
        return replace(value, origins=tuple(Origin(b.kind, b.site_id, (*b.path, key)) for b in value.origins))
    if name in ("eval", "train", "state_dict"):
        return value
    return None


def text_method(value: Value, name: str, args: list[Value]) -> Value:
    """Call a method of a string."""
    text = value.value if isinstance(value, Const) else None
    if name == "format" and isinstance(text, str):
        device = parse_device(text.split("{")[0].rstrip(":") or "-")
        return DeviceValue(device, text=True, symbol=UNKNOWN_INDEX) if device is not None else Text()
    if isinstance(text, str) and name in ("lower", "upper", "strip"):
        return Const(getattr(text, name)())
    affix = args[0].value if args and isinstance(args[0], Const) else None
    if isinstance(text, str) and isinstance(affix, str) and name in ("startswith", "endswith"):
        return Const(getattr(text, name)(affix))
    if name in ("split", "splitlines", "rsplit"):
        return IterableOf(Text())
    if name in ("find", "index", "count"):
        return Number()
    return Text()
