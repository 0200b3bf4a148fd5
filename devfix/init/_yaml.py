"""Addition of an item to a list in a YAML file; all other text stays, comments included.

The position comes from the parser's events.  The result is parsed again: apart from the item, the events must be the
same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, MappingStartEvent, ScalarEvent

from devfix.init._text import append_lines, insert_lines

__all__ = ["CannotExtend", "InvalidYaml", "append_item", "values"]

_LINE_STARTS = re.compile(r"^(?=.)", re.MULTILINE)


class InvalidYaml(Exception):
    """The text cannot be parsed; the message is the parser's, with the line."""


class CannotExtend(Exception):
    """The list's syntax does not allow adding an item by adding lines."""


def values(raw: bytes, key: str) -> set[str]:
    """Return the values of ``key`` in all mappings of the text; raise :class:`InvalidYaml`."""
    events = _events(raw)
    pairs = itertools.pairwise(events)
    return {
        value_event.value
        for key_event, value_event in pairs
        if isinstance(value_event, ScalarEvent) and getattr(key_event, "value", None) == key
    }


def append_item(raw: bytes, key: str, item: str) -> bytes:
    """Append an item to the list under a top-level key.

    Args:
        raw: the text.
        key: the key; it is added if missing.
        item: YAML that begins with ``- ``, not indented.

    Raises:
        InvalidYaml: the text cannot be parsed.
        CannotExtend: the list's syntax does not allow adding lines.

    """
    events = _events(raw)
    entry = _top_level_values(events).get(key)
    if entry is None:
        text = f"{key}:\n{_LINE_STARTS.sub('  ', item)}"
        new, added, position = append_lines(raw, text), _strip_envelope(_events(text.encode()), 3), len(events) - 3
        if len(events) == 2:  # only comments
            added, position = _strip_envelope(_events(text.encode()), 1), 1
    else:
        line, indent = _after_last_item(raw, events, *entry)
        new, position = insert_lines(raw, line, _LINE_STARTS.sub(indent, item)), entry[1]
        added = _strip_envelope(_events(item.encode()), 3)
    try:
        is_unchanged = _signature(_events(new)) == _signature([*events[:position], *added, *events[position:]])
    except InvalidYaml:
        is_unchanged = False
    if not is_unchanged:
        raise CannotExtend(f"lines cannot be added to its list `{key}`")
    return new


def _events(raw: bytes) -> list[Any]:
    try:
        return list(yaml.parse(raw, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidYaml(" ".join(str(error).split())) from error


def _strip_envelope(events: Sequence[Any], depth: int) -> Sequence[Any]:
    """Remove the start and end events of stream, document, and so on."""
    return events[depth:-depth]


def _signature(events: Sequence[Any]) -> list[tuple[object, ...]]:
    """Return the content of events, without their positions."""
    return [
        (type(event), *(getattr(event, name, None) for name in ("anchor", "tag", "value", "flow_style")))
        for event in events
    ]


def _top_level_values(events: Sequence[Any]) -> dict[str, tuple[int, int]]:
    """Return, for each top-level key, the indices of the first and last event of its value."""
    found: dict[str, tuple[int, int]] = {}
    if len(events) < 5 or not isinstance(events[2], MappingStartEvent):
        return found
    index = 3
    while not isinstance(events[index], CollectionEndEvent):
        key, first = events[index], _node_end(events, index) + 1
        last = _node_end(events, first)
        if isinstance(key, ScalarEvent):
            found[key.value] = (first, last)
        index = last + 1
    return found


def _node_end(events: Sequence[Any], index: int) -> int:
    """Return the index of the last event of the node that begins at ``index``."""
    depth = 0
    while True:
        depth += isinstance(events[index], CollectionStartEvent) - isinstance(events[index], CollectionEndEvent)
        if depth == 0:
            return index
        index += 1


def _after_last_item(raw: bytes, events: Sequence[Any], first: int, last: int) -> tuple[int, str]:
    """Return the line, counted from 0, before which the next item belongs, and the indentation."""
    lines = [line.decode("utf-8", "replace") for line in raw.splitlines()]
    dash = re.match(r" *(?=- )", lines[events[first + 1].start_mark.line]) if last > first + 1 else None
    if dash is None or isinstance(events[first], MappingStartEvent) or events[first].flow_style:
        raise CannotExtend("the key has no list, or a list in brackets")
    end = next(
        event.end_mark
        for event in reversed(events[:last])
        if isinstance(event, (ScalarEvent, AliasEvent)) or event.start_mark.index < event.end_mark.index
    )
    line = end.line + (end.column > 0)
    for number in range(line, len(lines)):  # comments indented like the item's lines belong to it
        text = lines[number]
        if text.strip() and not (text.lstrip().startswith("#") and len(text) - len(text.lstrip()) > len(dash[0])):
            break
        if text.strip():
            line = number + 1
    return line, dash[0]
