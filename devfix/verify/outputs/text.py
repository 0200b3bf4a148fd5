"""Lines as a terminal shows them in the end: of a progress bar, the last state."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["split_lines"]

_MOVES = re.compile(r"(\n|\r|\x1b\[\d*A|\x1b\[\d*B)")
_OTHER_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00\x07\x08]")


def split_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text without colours; what a carriage return or a cursor movement overwrites is left out."""
    if "\x1b" in text or "\x07" in text or "\x08" in text or "\x00" in text:
        if "A" in text and re.search(r"\x1b\[\d*A", text):
            yield from _on_screen(text)
            return
        text = _OTHER_ESCAPES.sub("", text)
    for line in text.split("\n"):
        yield _last_state(line) if "\r" in line else line.rstrip()


def _last_state(line: str) -> str:
    return next((part.rstrip() for part in reversed(line.split("\r")) if part.strip()), "")


def _on_screen(text: str) -> Iterator[str]:
    """Yield the lines of a text that moves the cursor up, as nested progress bars do."""
    rows = [""]
    row, overwrites = 0, False
    for part in _MOVES.split(text):
        if part == "\n":
            row, overwrites = row + 1, row + 1 < len(rows)
            if row == len(rows):
                rows.append("")
        elif part == "\r":
            overwrites = True
        elif part.startswith("\x1b[") and part.endswith(("A", "B")):
            distance = int(part[2:-1] or 1) * (-1 if part.endswith("A") else 1)
            row, overwrites = min(max(0, row + distance), len(rows) - 1), True
        elif shown := _OTHER_ESCAPES.sub("", part):
            if overwrites and not shown.strip():
                continue  # a bar that is erased keeps its last state
            rows[row] = shown if overwrites else rows[row] + shown
            overwrites = False
    yield from (each.rstrip() for each in rows)
