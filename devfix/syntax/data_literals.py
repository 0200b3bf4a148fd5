"""Large data literals: generated lines that differ only in numbers and strings are collapsed before parsing.

A tree takes 200 bytes per byte of source, and its analysis as much again: half a gigabyte for a table of one megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["COLLAPSE_THRESHOLD", "collapse_repeated_literals"]

#: Texts with fewer characters are never collapsed.
COLLAPSE_THRESHOLD = 200_000

_LONGEST_PERIOD = 8  # lines per record
_MIN_RUN = 100  # lines; shorter runs stay
_MAX_KNOWN_LINES = 100_000  # whose shapes are kept in memory
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\b")
_STRING = re.compile(r"'[^'\"\\\n]*'|\"[^'\"\\\n]*\"")
_MAYBE_DEVICE = re.compile(r"cpu|cuda|mps|xpu|hpu|xla|meta|npu|\{", re.IGNORECASE)  # such strings are compared
_COMMENT = "#"  # may be a suppression


def collapse_repeated_literals(text: str) -> str | None:
    """Return ``text`` with runs of lines that differ only in numbers and strings emptied.

    Returns ``None`` if the text is short or no more than half of its lines would be emptied.  Line numbers and columns
    stay.  The caller must check that the result parses.
    """
    if len(text) < COLLAPSE_THRESHOLD:
        return None
    lines = text.splitlines(keepends=True)
    shapes = list(map(_ShapeIds().__getitem__, lines))
    emptied = 0
    for start, end in _collapsible_ranges(shapes):
        emptied += end - start
        lines[start:end] = ["\n"] * (end - start)
    return "".join(lines) if emptied * 2 > len(lines) else None


class _ShapeIds(dict[str, int]):
    """The number of each line's shape; equal lines, which are most of some files, are looked at once."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: dict[str, int] = {}

    def __missing__(self, line: str) -> int:
        shape_id = self._ids.setdefault(_shape(line), len(self._ids))
        if len(self) < _MAX_KNOWN_LINES:
            self[line] = shape_id
        return shape_id


def _shape(line: str) -> str:
    """Return the line with its numbers and strings replaced by placeholders."""
    if _COMMENT in line:
        return line
    without_strings = _STRING.sub(lambda found: found[0] if _MAYBE_DEVICE.search(found[0]) else "''", line)
    return _NUMBER.sub("0", without_strings)


def _collapsible_ranges(shapes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield line ranges to empty: all periods of a run except the first two and the last."""
    start = 0
    while start < len(shapes):
        period, end = _longest_run(shapes, start)
        if end - start >= _MIN_RUN:
            repetitions = (end - start) // period
            yield start + 2 * period, start + (repetitions - 1) * period
            start = end
        else:
            start += 1


def _longest_run(shapes: list[int], start: int) -> tuple[int, int]:
    """Return the period and the end of the longest run from ``start``."""
    best = (1, start)
    for period in range(1, _LONGEST_PERIOD + 1):
        end = start + period
        while end < len(shapes) and shapes[end] == shapes[end - period]:
            end += 1
        if end > best[1] and end - start >= 3 * period:
            best = (period, end)
            if end - start >= period + _LONGEST_PERIOD:  # no other period is longer (Fine and Wilf's theorem)
                break
    return best
