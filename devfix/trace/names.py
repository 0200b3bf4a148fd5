"""Names of values, expressions and devices in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from devfix.trace.failure_trace import ModuleEvent, Position, Value, ValueEvent

__all__ = ["device_noun", "expression", "name_of", "quoted_move"]

_MAX_LENGTH = 60


def name_of(value: Value, events: Sequence[ValueEvent] = ()) -> str:
    """Return a value's name in the failing frames, else that of a predecessor, else the expression that created it.

    Args:
        value: the value.
        events: the events that lead to it, the oldest first.

    """
    if value.name_in_package is not None:
        return value.name_in_package
    names = [name for name in value.names if name.exact]
    for candidates in (value.names, *(event.names for event in reversed(events))):
        names = names or list(candidates)
    if names:
        return names[0].text
    position = value.last.position if value.last else None
    return expression(position) if position else value.role


def expression(position: Position) -> str:
    """Return the expression at a position on one line, shortened; the line if the expression is unknown."""
    is_statement = position.text.startswith(("for ", "async for ", "with ", "async with "))
    text = re.sub(r"\s+", " ", position.text if position.text and not is_statement else position.code)
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def device_noun(device: str) -> str:
    """Return a device as a noun: "the CPU" or "cuda:0"."""
    return "the CPU" if device == "cpu" else device


def quoted_move(move: ModuleEvent) -> str:
    """Return the call that moved a module, and its line: "`model.to(device)` at train.py:31"."""
    if not move.stack:
        return f"a move to {device_noun(move.device)}"
    return f"`{expression(move.stack[0])}` at {move.stack[0]}"
