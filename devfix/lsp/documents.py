"""Open documents: their text, changed piece by piece, and positions in the units of the client.

The protocol counts columns in UTF-16, UTF-8 or UTF-32 units, as negotiated, and ends lines at ``\\n``, ``\\r\\n`` and
``\\r`` alone: so does Python, but not ``str.splitlines``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from functools import cached_property

from lsprotocol import types

from devfix.model import Span
from devfix.report.positions import utf8_length, utf16_length

__all__ = ["Text", "changed", "edits_between", "moved_span"]

_COUNTS: dict[str, Callable[[str], int]] = {
    types.PositionEncodingKind.Utf8: utf8_length,
    types.PositionEncodingKind.Utf32: len,
}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class Text:
    """One text with its lines, for a client that counts columns in units of ``encoding``."""

    def __init__(self, text: str, encoding: str = types.PositionEncodingKind.Utf16) -> None:
        self.text = text
        self.encoding = encoding

    @cached_property
    def lines(self) -> list[str]:
        """Every line with its end; the last one may be empty."""
        found = _LINE.findall(self.text)
        return found if found and not found[-1].endswith(("\n", "\r")) else [*found, ""]

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        return starts

    def position(self, line: int, column: int) -> types.Position:
        """Return a position (line from 1, column in code points from 0) for the client; beyond the end, the end."""
        if line > len(self.lines):
            line, column = len(self.lines), len(self.lines[-1])
        return types.Position(line - 1, self._units(self.lines[line - 1].rstrip("\r\n")[:column]))

    def range(self, span: Span) -> types.Range:
        """Return a span for the client."""
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def place(self, position: types.Position) -> tuple[int, int]:
        """Return a client's position as line from 1 and column in code points from 0, inside the text."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1].rstrip("\r\n"))
        content = self.lines[position.line].rstrip("\r\n")
        if content.isascii():
            return position.line + 1, min(position.character, len(content))
        units = 0
        for column, character in enumerate(content):
            if units >= position.character:
                return position.line + 1, column
            units += self._units(character)
        return position.line + 1, len(content)

    def offset(self, position: types.Position) -> int:
        """Return a client's position as an index into the text."""
        line, column = self.place(position)
        return self._starts[line - 1] + column

    def _units(self, text: str) -> int:
        return _COUNTS.get(self.encoding, utf16_length)(text)


def changed(text: Text, change: types.TextDocumentContentChangeEvent) -> Text:
    """Return the text after one change of the client, to a part or the whole."""
    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = text.offset(change.range.start), text.offset(change.range.end)
        return Text(text.text[:start] + change.text + text.text[max(start, end) :], text.encoding)
    return Text(change.text, text.encoding)


def edits_between(old: Text, new: str) -> list[types.TextEdit]:
    """Yield the smallest edits, in whole lines, from one text to another."""
    lines = Text(new).lines
    edits = []
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old.lines, lines, autojunk=False).get_opcodes():
        if kind != "equal":
            where = types.Range(_start_of(old, i1), _start_of(old, i2))
            edits.append(types.TextEdit(where, "".join(lines[j1:j2])))
    return edits


def _start_of(text: Text, index: int) -> types.Position:
    """Return the offset of the line with an index (from 0); after the last line, the end of the text."""
    if index < len(text.lines):
        return types.Position(index, 0)
    return text.position(len(text.lines), len(text.lines[-1]))


def moved_span(span: Span, old: str, new: str) -> Span | None:
    """Return the span in a new text; ``None`` if one of its lines was changed."""
    if old == new:
        return span
    before, after = Text(old).lines, Text(new).lines
    first = next(
        (i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(after)),
    )
    if span.end_line <= first:
        return span
    most = min(len(before), len(after)) - first
    last = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    if span.line > len(before) - last:
        shift = len(after) - len(before)
        return Span(span.line + shift, span.column, span.end_line + shift, span.end_column)
    return None
