"""Offsets of the values in a JSON text, walked member by member, so that single strings can be replaced.

The standard library's decoder does the work; values that are not requested are decoded and discarded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in its stubs; py_scanstring, if not in C
from typing import Any, NamedTuple

__all__ = ["Extent", "elements", "members", "strings_at", "value_at"]

_BLANK = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder(strict=False)


class Extent(NamedTuple):
    """A range of the text, the end exclusive."""

    start: int
    end: int


def members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Return keys of the object at ``start`` with the offsets of their values, in order.

    Raise ``ValueError`` (as ``json`` does) if there is no valid object.
    """
    at = _opened(text, start, "{")
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        key, at = scanstring(text, at + 1, False)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
        at = _skip(text, at + 1)
        yield key, at
        at = _next(text, value_at(text, at)[1], "}")


def elements(text: str, start: int) -> Iterator[int]:
    """Return the offsets of the elements of the array at ``start``; raise ``ValueError`` if there is none."""
    at = _opened(text, start, "[")
    while text[at : at + 1] != "]":
        yield at
        at = _next(text, value_at(text, at)[1], "]")


def value_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value at ``start``, and the offset of its end."""
    return _decoder.raw_decode(text, start)


def strings_at(text: str, start: int) -> list[Extent] | None:
    """Return the literals of a string, or of an array of strings; ``None`` for any other value."""
    if text[start : start + 1] == '"':
        return [Extent(start, value_at(text, start)[1])]
    if text[start : start + 1] != "[":
        return None
    found = []
    for at in elements(text, start):
        if text[at] != '"':
            return None
        found.append(Extent(at, value_at(text, at)[1]))
    return found


def _opened(text: str, start: int, bracket: str) -> int:
    if text[start : start + 1] != bracket:
        raise json.JSONDecodeError(f"Expecting '{bracket}'", text, start)
    return _skip(text, start + 1)


def _next(text: str, end: int, bracket: str) -> int:
    """Return the offset after the comma, or of the closing bracket."""
    at = _skip(text, end)
    if text[at : at + 1] == bracket:
        return at
    if text[at : at + 1] != ",":
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()
