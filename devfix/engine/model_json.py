"""The data model (:mod:`devfix.model`) as JSON and back, for the cache."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from devfix import model

__all__ = ["from_json", "to_json"]


def to_json(value: Any) -> str:
    """Return the JSON of dataclasses of the model, enumerations, tuples and plain values; lists become tuples."""
    return json.dumps(_plain(value), separators=(",", ":"))


def from_json(text: str) -> Any:
    """Return the value that :func:`to_json` wrote; raise ``ValueError`` for any other text."""
    try:
        return _value(json.loads(text))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from error


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {type(value).__name__: value.value}
    if is_dataclass(value):
        return {type(value).__name__: [_plain(getattr(value, field.name)) for field in fields(value)]}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _value(plain: Any) -> Any:
    if isinstance(plain, dict):
        ((name, content),) = plain.items()
        kind = getattr(model, name)
        return kind(content) if issubclass(kind, Enum) else kind(*_value(content))
    if isinstance(plain, list):
        return tuple(_value(item) for item in plain)
    return plain
