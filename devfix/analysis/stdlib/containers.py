"""Lists, dictionaries, strings, and values of unknown shape that behave like them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores, host_access
from devfix.analysis.domain.device_parsing import INDEXED, device_named
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    Origin,
    Const,
    DeviceValue,
    Number,
    HeapObject,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    IterableOf,
    join,
)
from devfix.analysis.transfer import iteration

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["container_method", "loose_method", "text_method"]

MOST_ITEMS = 32


def container_method(
    interp: Interpreter, ref: Pointer, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """A method of a list, set, dictionary or plain object."""
    record = interp.record(ref)
    args = [attribute_stores.added(interp, ref, value) for value in args]
    held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
    match name:
        case "append" | "add" if args:
            if node.args and not isinstance(node.args[0], ast.Starred):
                args = [host_access.keep(interp, ref, args[0], node.args[0])]
            if interp.loop_depth == 0 and record.rest is None and len(record.fields) < MOST_ITEMS:
                interp.now.put(ref, str(len(record.fields)), args[0])
            else:
                interp.now.update(ref, rest=args[0] if record.rest is None else join((record.rest, args[0])))
            return NONE
        case "extend" if args:
            known = iteration.elements(interp, args[0], node)
            added = known if known is not None else [iteration.element(interp, args[0], node)]
            if known is not None and record.rest is None and interp.loop_depth == 0:
                for item in added:
                    interp.now.put(ref, str(len(interp.record(ref).fields)), item)
            else:
                interp.now.update(ref, rest=join([*added, *([record.rest] if record.rest is not None else [])]))
            return NONE
        case "update":
            other = args[0] if args else None
            if isinstance(other, Pointer):
                given = interp.record(other)
                interp.now.update(ref, fields={**record.fields, **given.fields}, rest=given.rest or record.rest)
            elif other is not None:
                interp.now.update(ref, rest=UNKNOWN)
            for key, value in keywords.items():
                interp.now.put(ref, key, value)
            return NONE
        case "items":
            if record.fields and record.rest is None and iteration.are_few(interp, held):
                pairs = {str(i): TupleValue((Const(k), v)) for i, (k, v) in enumerate(record.fields.items())}
                return interp.new(HeapObject("list", fields=dict(pairs)))
            return IterableOf(TupleValue((Text(), join(held) if held else UNKNOWN)))
        case "values":
            if record.fields and record.rest is None:
                return TupleValue(tuple(record.fields.values()))
            return IterableOf(join(held) if held else UNKNOWN)
        case "keys":
            return TupleValue(tuple(Const(key) for key in record.fields)) if record.rest is None else IterableOf(Text())
        case "setdefault" if len(args) == 2 and isinstance(args[0], Const):
            key = str(args[0].value)
            if key not in record.fields:
                interp.now.put(ref, key, args[1])
            return record.fields.get(key, args[1])
        case "get" | "pop" | "setdefault":
            return _item(record, args)
        case "copy":
            return interp.new(record)
        case "state_dict":
            return Unknown("state_dict")
    if record.kind in ("instance", "dataset", "list", "dict", "set"):
        from devfix.analysis.transfer.calls import escape

        escape(interp, [*args, *keywords.values()])
    return UNKNOWN


def _item(record: HeapObject, args: list[Value]) -> Value:
    held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
    default = args[1] if len(args) > 1 else NONE
    if args and isinstance(args[0], Const):
        found = record.fields.get(str(args[0].value), record.rest)
        return found if found is not None else default
    if not args and record.fields:
        return list(record.fields.values())[-1]
    return join([*held, default]) if held else UNKNOWN


def loose_method(interp: Interpreter, value: Tensor, name: str, args: list[Value], node: ast.Call) -> Value | None:
    """A dictionary or list method on a value that may be a container; ``None`` where it is a tensor's."""
    inner = replace(value, origins=tuple(Origin(b.kind, b.key, (*b.item, "*")) for b in value.origins))
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
        return replace(value, origins=tuple(Origin(b.kind, b.key, (*b.item, key)) for b in value.origins))
    if name in ("eval", "train", "state_dict"):
        return value
    return None


def text_method(value: Value, name: str, args: list[Value]) -> Value:
    """A method of a string."""
    text = value.value if isinstance(value, Const) else None
    if name == "format" and isinstance(text, str):
        device = device_named(text.split("{")[0].rstrip(":") or "-")
        return DeviceValue(device, text=True, symbol=INDEXED) if device is not None else Text()
    if isinstance(text, str) and name in ("lower", "upper", "strip"):
        return Const(getattr(text, name)())
    asked = args[0].value if args and isinstance(args[0], Const) else None
    if isinstance(text, str) and isinstance(asked, str) and name in ("startswith", "endswith"):
        return Const(getattr(text, name)(asked))
    if name in ("split", "splitlines", "rsplit"):
        return IterableOf(Text())
    if name in ("find", "index", "count"):
        return Number()
    return Text()
