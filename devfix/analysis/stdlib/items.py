"""Items of containers: which are known one by one, and what a slice, an unpacking or unknown code makes of them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import HeapObject, Module, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Number,
    Pointer,
    Tensor,
    TupleValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "escape_fields",
    "is_non_string_key",
    "is_unrollable",
    "named_by_index",
    "setting_after_write",
    "sliced",
    "unpack_fields",
]

MOST_ELEMENTS = 8
MOST_WITH_MODULES = 24
_MOST_NESTED = 3


def is_unrollable(interp: Interpreter, contents: Collection[Value]) -> bool:
    """Return whether a loop is executed item by item: few items, or more if modules are among them."""
    most = MOST_ELEMENTS
    if most < len(contents) <= MOST_WITH_MODULES:
        last = [value.items[-1] if isinstance(value, TupleValue) and value.items else value for value in contents]
        if any(object_at(interp, value, Module) is not None for value in last):
            most = MOST_WITH_MODULES
    return len(contents) <= most


def named_by_index(obj: HeapObject, name: str | None) -> str | None:
    """Return the field that an index names: a negative one counts from the end."""
    if name is None or not name.lstrip("-").isdigit() or name in obj.fields or int(name) >= 0:
        return name
    numbered = [key for key in obj.fields if key.isdigit()]
    return str(len(numbered) + int(name)) if numbered and obj.default_item is None else name


def sliced(items: Sequence[Value], node: ast.Slice) -> Sequence[Value]:
    """Return the items of a slice; all items if its bounds are unknown."""
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            bounds.append(None)
        elif isinstance(part, ast.Constant) and isinstance(part.value, int):
            bounds.append(part.value)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) and isinstance(part.operand, ast.Constant):
            if not isinstance(part.operand.value, int):
                return items
            bounds.append(-part.operand.value)
        else:
            return items
    return items[slice(*bounds)]


def unpack_fields(obj: HeapObject, count: int) -> list[Value]:
    """Return the values of ``count`` targets that fields are unpacked to."""
    if len(obj.fields) == count and obj.default_item is None:
        return list(obj.fields.values())
    if obj.default_item is not None:
        return [obj.fields.get(str(i), obj.default_item) for i in range(count)]
    return [UNKNOWN] * count


def escape_fields(obj: HeapObject, interp: Interpreter, pointer: Pointer, depth: int) -> None:
    """Pass the fields of an object to code that cannot be read, which may replace CPU tensors among them."""
    if not obj.fields or depth >= _MOST_NESTED:
        return
    interp.escape(obj.fields.values(), depth + 1)
    fields = {name: _after_escape(item) for name, item in interp.heap_object(pointer).fields.items()}
    interp.now.update(pointer, fields=fields)


def _after_escape(value: Value) -> Value:
    """Return a value after its container was passed to unknown code: the device of a CPU tensor is unknown."""
    return (
        replace(value, device=UNKNOWN_DEVICE, origins=())
        if isinstance(value, Tensor) and value.device == CPU
        else value
    )


def is_non_string_key(key: Value) -> bool:
    """Return whether a dictionary key is certainly no string."""
    return isinstance(key, (Number, TupleValue)) or (isinstance(key, Const) and not isinstance(key.value, str))


def setting_after_write(obj: HeapObject, pointer: Pointer, name: str, value: Value) -> Value:
    """Return a field after a write under an unknown key: a setting may have changed."""
    is_setting = isinstance(value, Const) and value.value is not None
    return Unknown(f"{obj.name}#{pointer.id}.{name}") if is_setting else value
