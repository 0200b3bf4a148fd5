"""Long files of data: lines alike, as generators write them, of which the first and the last say what all of them say.

A tree takes 200 bytes for each byte of source, and following it as much again: a table of a megabyte half a gigabyte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["COLLAPSE_THRESHOLD", "collapse_repeated_literals"]

#: Shorter texts (in characters) are followed as they are.
COLLAPSE_THRESHOLD = 200_000

_LONGEST_PERIOD = 8  # lines of one record
_FEWEST = 100  # lines that are worth leaving out
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\b")
_STRING = re.compile(r"'[^'\"\\\n]*'|\"[^'\"\\\n]*\"")
_TOUCHY = re.compile(r"cpu|cuda|mps|xpu|hpu|xla|meta|npu|\{", re.IGNORECASE)  # strings that may name a device
_COMMENT = "#"  # may speak to us


def collapse_repeated_literals(text: str) -> str | None:
    """A long text without lines that differ from others in numbers and strings only; ``None`` where they are few.

    Every line keeps its number, and every character its column; whether the result parses is for the caller to see.
    """
    if len(text) < COLLAPSE_THRESHOLD:
        return None
    lines = text.splitlines(keepends=True)
    known: dict[str, int] = {}
    shapes = [known.setdefault(_shape(line), len(known)) for line in lines]
    left_out = 0
    for start, end in _runs(shapes):
        left_out += end - start
        lines[start:end] = ["\n"] * (end - start)
    return "".join(lines) if left_out * 2 > len(lines) else None


def _shape(line: str) -> str:
    """The line without what its numbers and strings are."""
    if _COMMENT in line:
        return line
    bare = _STRING.sub(lambda found: found[0] if _TOUCHY.search(found[0]) else "''", line)
    return _NUMBER.sub("0", bare)


def _runs(shapes: list[int]) -> Iterator[tuple[int, int]]:
    """From and up to which line lines go: whole periods, but for the first two and the last one of a run."""
    at = 0
    while at < len(shapes):
        period, end = _run(shapes, at)
        if end - at >= _FEWEST:
            whole = (end - at) // period
            yield at + 2 * period, at + (whole - 1) * period
            at = end
        else:
            at += 1


def _run(shapes: list[int], at: int) -> tuple[int, int]:
    """The period of the longest run that begins here, and its end."""
    best = (1, at)
    for period in range(1, _LONGEST_PERIOD + 1):
        end = at + period
        while end < len(shapes) and shapes[end] == shapes[end - period]:
            end += 1
        if end - at > best[1] - at and end - at >= 3 * period:
            best = (period, end)
    return best
