"""One more item in a list of a YAML file: the text around it stays, comments included.

The place is found in the parser's events, and the result is parsed again: but for the item, the events are the same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, MappingStartEvent, ScalarEvent

from devfix.init._text import appended, inserted

__all__ = ["CannotExtend", "NotYaml", "extended", "top_keys", "values"]

_INDENTED = re.compile(r"^(?=.)", re.MULTILINE)


class NotYaml(Exception):
    """The text cannot be parsed; the message is the parser's, with the line."""


class CannotExtend(Exception):
    """The list is written in a way that an item cannot be added to by adding lines."""


def values(raw: bytes, key: str) -> set[str]:
    """What stands behind ``key`` in any mapping of the text.  Raises :class:`NotYaml`."""
    events = _events(raw)
    pairs = itertools.pairwise(events)
    return {two.value for one, two in pairs if isinstance(two, ScalarEvent) and getattr(one, "value", None) == key}


def top_keys(raw: bytes) -> set[str]:
    """The keys of the document.  Raises :class:`NotYaml`."""
    return set(_entries(_events(raw)))


def extended(raw: bytes, key: str, item: str) -> bytes:
    """The text with one more item in the list under the top-level ``key``; with the list, where there is none.

    ``item`` is YAML that starts with ``- ``, not indented.  Raises :class:`NotYaml` and :class:`CannotExtend`.
    """
    events = _events(raw)
    entry = _entries(events).get(key)
    if entry is None:
        text = f"{key}:\n{_INDENTED.sub('  ', item)}"
        new, added, at = appended(raw, text), _inner(_events(text.encode()), 3), len(events) - 3
        if len(events) == 2:  # nothing but comments
            added, at = _inner(_events(text.encode()), 1), 1
    else:
        line, indent = _behind_the_last_item(raw, events, *entry)
        new, at = inserted(raw, line, _INDENTED.sub(indent, item)), entry[1]
        added = _inner(_events(item.encode()), 3)
    try:
        holds = _told(_events(new)) == _told([*events[:at], *added, *events[at:]])
    except NotYaml:
        holds = False
    if not holds:
        raise CannotExtend(f"its list `{key}` is written in a way that lines cannot be added to")
    return new


def _events(raw: bytes) -> list[Any]:
    try:
        return list(yaml.parse(raw, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise NotYaml(" ".join(str(error).split())) from error


def _inner(events: Sequence[Any], depth: int) -> Sequence[Any]:
    """Without the starts and ends of the stream, the document, and so on."""
    return events[depth:-depth]


def _told(events: Sequence[Any]) -> list[tuple[object, ...]]:
    """What events say, wherever they stand."""
    return [
        (type(event), *(getattr(event, name, None) for name in ("anchor", "tag", "value", "flow_style")))
        for event in events
    ]


def _entries(events: Sequence[Any]) -> dict[str, tuple[int, int]]:
    """Of a document that is a mapping: top-level key → indices of the first and the last event of its value."""
    found: dict[str, tuple[int, int]] = {}
    if len(events) < 5 or not isinstance(events[2], MappingStartEvent):
        return found
    index = 3
    while not isinstance(events[index], CollectionEndEvent):
        key, first = events[index], _last_of(events, index) + 1
        last = _last_of(events, first)
        if isinstance(key, ScalarEvent):
            found[key.value] = (first, last)
        index = last + 1
    return found


def _last_of(events: Sequence[Any], index: int) -> int:
    """The last event of the node that begins at ``index``."""
    depth = 0
    while True:
        depth += isinstance(events[index], CollectionStartEvent) - isinstance(events[index], CollectionEndEvent)
        if depth == 0:
            return index
        index += 1


def _behind_the_last_item(raw: bytes, events: Sequence[Any], first: int, last: int) -> tuple[int, str]:
    """The line, counted from 0, ahead of which the next item goes, and how far the items are indented."""
    lines = [line.decode("utf-8", "replace") for line in raw.splitlines()]
    dash = re.match(r" *(?=- )", lines[events[first + 1].start_mark.line]) if last > first + 1 else None
    if dash is None or isinstance(events[first], MappingStartEvent) or events[first].flow_style:
        raise CannotExtend("its list is written in brackets, or is none")
    end = next(
        event.end_mark
        for event in reversed(events[:last])
        if isinstance(event, (ScalarEvent, AliasEvent)) or event.start_mark.index < event.end_mark.index
    )
    line = end.line + (end.column > 0)
    for number in range(line, len(lines)):  # comments that are indented like the item's own lines are its own
        text = lines[number]
        if text.strip() and not (text.lstrip().startswith("#") and len(text) - len(text.lstrip()) > len(dash[0])):
            break
        if text.strip():
            line = number + 1
    return line, dash[0]
