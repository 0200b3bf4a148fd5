"""Positions of a text in another version of it: lines by content, columns by the words of a line.

Lines count from 1 and end as Python ends them; columns are code points from 0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate

from devfix.model import Span

__all__ = ["Alignment"]

_END = re.compile(r"\r\n|\r|\n")
_WORD = re.compile(r"\w+|\s+|.")
_ALIKE = 0.5  # minimum similarity of a rewritten line
_MOST_COMPARED = 40  # candidates for a rewritten line; with more, none is searched

_Block = tuple[int, int, int, int]  # start and end here, start and end there


class Alignment:
    """Two versions of a text.

    A line in both versions maps to itself, even if it was moved; a rewritten line maps to the most similar new one, and
    a deleted line to the next line.

    Args:
        old: the version in which positions are known.
        new: the version in which they are wanted.
    """

    def __init__(self, old: str, new: str) -> None:
        self._same = old == new
        self._old = _END.split(old)
        self._new = _END.split(new)

    def here(self, line: int) -> str:
        """Return the text of a line of the old version; empty if there is none."""
        return self._old[line - 1] if 0 < line <= len(self._old) else ""

    def there(self, line: int) -> str:
        """Return the text of a line of the new version; empty if there is none."""
        return self._new[line - 1] if 0 < line <= len(self._new) else ""

    def line(self, line: int) -> int:
        """Return the line of the new version for one of the old version."""
        return line if self._same or not 0 < line <= len(self._old) else self._line(line - 1) + 1

    def place(self, line: int, column: int, *, ends: bool = False) -> tuple[int, int]:
        """Return line and column in the new version; with ``ends``, for an end, which excludes appended text."""
        there = self.line(line)
        if self._same or not 0 < line <= len(self._old):
            return line, column
        return there, _column(self.here(line), self.there(there), column, ends)

    def span(self, span: Span) -> Span:
        """Return the span in the new version for one of the old version."""
        start = self.place(span.line, span.column)
        end = self.place(span.end_line, span.end_column, ends=True)
        return Span(*start, *max(start, end))

    @cached_property
    def _blocks(self) -> list[tuple[str, _Block]]:
        most = min(len(self._old), len(self._new))
        head = next((i for i in range(most) if self._old[i] != self._new[i]), most)
        most -= head
        tail = next((i for i in range(most) if self._old[-1 - i] != self._new[-1 - i]), most)
        ends = len(self._old) - tail, len(self._new) - tail
        matcher = SequenceMatcher(None, self._old[head : ends[0]], self._new[head : ends[1]], autojunk=False)
        between = [(tag, (i1 + head, i2 + head, j1 + head, j2 + head)) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
        return [
            ("equal", (0, head, 0, head)),
            *between,
            ("equal", (ends[0], len(self._old), ends[1], len(self._new))),
        ]

    @cached_property
    def _moved(self) -> dict[str, int]:
        """Return the lines that were moved, matched by unique text."""
        rewritten = [block for tag, block in self._blocks if tag != "equal"]
        gone = Counter(text.strip() for i1, i2, _, _ in rewritten for text in self._old[i1:i2])
        come = [at for _, _, j1, j2 in rewritten for at in range(j1, j2)]
        counted = Counter(self._new[at].strip() for at in come)
        texts = {at: self._new[at].strip() for at in come}
        return {text: at for at, text in texts.items() if text and counted[text] == 1 == gone[text]}

    def _line(self, line: int) -> int:
        block = bisect_right(self._blocks, line, key=lambda each: each[1][0]) - 1
        tag, (i1, _, j1, j2) = self._blocks[block]
        if tag == "equal":
            return j1 + line - i1
        moved = self._moved.get(self._old[line].strip())
        if moved is not None:
            return moved
        beside = min(j1 + line - i1, max(j2 - 1, j1), len(self._new) - 1)
        return _most_alike(self._old[line], self._new, j1, j2, beside)


def _most_alike(text: str, lines: Sequence[str], start: int, end: int, beside: int) -> int:
    """Return the most similar line between ``start`` and ``end``; ``beside`` if none is similar."""
    if not 1 < end - start <= _MOST_COMPARED:
        return beside
    matcher = SequenceMatcher(b=_WORD.findall(text.strip()), autojunk=False)
    best, most = beside, _ALIKE
    for at in range(start, end):
        matcher.set_seq1(_WORD.findall(lines[at].strip()))
        if matcher.ratio() > most:
            best, most = at, matcher.ratio()
    return best


def _column(old: str, new: str, column: int, ends: bool) -> int:
    """Map a column of the old line to the new line."""
    if old == new:
        return column
    blocks = list(_blocks_of_words(old, new))
    if ends:
        block = next((each for each in blocks if column <= each[1]), blocks[-1])
    else:
        block = next((each for each in reversed(blocks) if each[0] <= column), blocks[0])
    start, end, there, there_end = block
    if old[start:end] == new[there:there_end]:
        return there + column - start
    return there_end if column >= end else min(there + column - start, there_end)


def _blocks_of_words(old: str, new: str) -> Iterator[_Block]:
    here, there = _WORD.findall(old), _WORD.findall(new)
    before, after = ([0, *accumulate(map(len, words))] for words in (here, there))
    for _, i1, i2, j1, j2 in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        yield before[i1], before[i2], after[j1], after[j2]
