"""Strings that are composed of others: equal symbols mean the same unknown string, such as the path of a file."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    Const,
    Device,
    DeviceValue,
    Number,
    Text,
    Union,
    Unknown,
    Value,
)

__all__ = ["composed", "device_in_key", "is_dotted_name", "is_name", "known_start", "text_key"]

MOST_CHARACTERS = 500


def text_key(value: Value) -> str:
    """Return the key of a string or number; equal keys mean equal values, ``""`` is unknown."""
    match value:
        case Const(constant):
            return repr(constant)
        case Text(symbol) | Unknown(symbol) | Number(symbol):
            return symbol
        case DeviceValue(device) if device.known:
            return _device_key(device)
        case Union(alternatives):
            keys = sorted(text_key(option) for option in alternatives)
            return "|".join(keys) if all(keys) else ""
    return ""


def composed(parts: Iterable[Value], node: ast.expr) -> Text:
    """Return a string that ``node`` makes of parts; its symbol names a part without a key by its place in the code.

    A string that grows, in a loop for example, is unknown.
    """
    place = f"?{node.lineno}:{node.col_offset}"
    keys = [text_key(part) or place for part in parts]
    symbol = f"text({', '.join(keys)})~"  # "~": the name of a flag does not end so
    return Text(symbol if len(symbol) <= MOST_CHARACTERS else "")


def is_name(text: object) -> bool:
    """Return whether a text may be a name in Python: an identifier, and no keyword."""
    return isinstance(text, str) and text.isidentifier() and not keyword.iskeyword(text)


def is_dotted_name(text: object) -> bool:
    """Return whether a text is names with dots between them: ``models.Net``."""
    return isinstance(text, str) and all(map(is_name, text.split(".")))


def known_start(node: ast.expr) -> str:
    """Return the text that a computed string begins with: ``layer`` of ``f"layer{i}"`` and of ``"layer" + str(i)``."""
    match node:
        case ast.JoinedStr(values=[ast.Constant(value=str() as start), *_]):
            return start
        case ast.BinOp(left=left, op=ast.Add()):
            return known_start(left)
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod()):
            return text.partition("%")[0]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return text.partition("{")[0]
        case ast.Constant(value=str() as text):
            return text
    return ""


def device_in_key(value: Value) -> Device | None:
    """Return the device that the key of a cache names: a device, or a string with its name; ``None`` without one."""
    if isinstance(value, DeviceValue) and value.device.known:
        return value.device
    if not isinstance(value, Text):
        return None
    named = [device for device in (CPU, ACCELERATOR) if _device_key(device) in value.symbol]
    return named[0] if len(named) == 1 else None


def _device_key(device: Device) -> str:
    return f"<{device.kind}>"
