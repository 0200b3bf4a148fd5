"""Names of values, expressions and places, as they stand in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from devfix.trace.story import Happening, ModuleHappening, Position, Value

__all__ = ["expression", "name_of", "place", "quoted_move"]

_LONGEST = 60


def name_of(value: Value, line: Sequence[Happening] = ()) -> str:
    """What the failing code calls a value: its name, that of what it was made from, or the expression that made it.

    Args:
        value: the value.
        line: the events that it comes from, the oldest first.

    """
    if value.inside is not None:
        return value.inside
    names = [name for name in value.names if name.exact]
    for known in (value.names, *(event.names for event in reversed(line))):
        names = names or list(known)
    if names:
        return names[0].text
    made = value.last.position if value.last else None
    return expression(made) if made else value.role


def expression(position: Position) -> str:
    """The expression at a position on one line, shortened; the line where no expression is known."""
    statement = position.text.startswith(("for ", "async for ", "with ", "async with "))
    text = re.sub(r"\s+", " ", position.text if position.text and not statement else position.code)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def place(device: str) -> str:
    """A device as a noun."""
    return "the CPU" if device == "cpu" else device


def quoted_move(move: ModuleHappening) -> str:
    """The call that moved a module, and where: "`model.to(device)` at train.py:31"."""
    if not move.chain:
        return f"a move to {place(move.device)}"
    return f"`{expression(move.chain[0])}` at {move.chain[0]}"
