"""Lines, columns and offsets of source text.

Lines count from 1.  Columns of findings count code points of the decoded text, without a byte-order mark, from 0;
report formats count UTF-16 code units or UTF-8 bytes, from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from devfix import sources
from devfix.model import Patch
from devfix.sources import SourceError, SourceFile

__all__ = ["Lines", "Position", "SourceTexts", "utf8_length", "utf16_length"]

#: Line endings of Python source; unlike ``str.splitlines``, a form feed does not end a line.
_END = re.compile(r"\r\n|\r|\n")


class Position(NamedTuple):
    """A position in a text: line from 1, column in code points from 0."""

    line: int
    column: int


def utf16_length(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def utf8_length(text: str) -> int:
    """Return the number of UTF-8 bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Lines:
    """The lines of a text, numbered from 1."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _bounds(self) -> list[tuple[int, int, int]]:
        """Offsets of each line: start, end without and end with its line ending."""
        found, start = [], 0
        for end in _END.finditer(self.text):
            found.append((start, end.start(), end.end()))
            start = end.end()
        found.append((start, len(self.text), len(self.text)))
        return found

    def __len__(self) -> int:
        return len(self._bounds)

    def __getitem__(self, number: int) -> str:
        """Return a line without its line ending; empty if there is no such line."""
        start, end, _ = self._at(number)
        return self.text[start:end]

    def with_line_ends(self) -> list[str]:
        """Return the lines with their line endings, without an empty last line."""
        return [self.text[start:after] for start, _, after in self._bounds if start < after]

    def start(self, number: int) -> int:
        """Return the offset of a line's first character."""
        return self._at(number)[0]

    def end(self, number: int) -> int:
        """Return the offset of a line's end, before the line ending."""
        return self._at(number)[1]

    def position(self, offset: int) -> Position:
        """Return the line and column of an offset."""
        from bisect import bisect_right

        line = bisect_right(self._bounds, offset, key=lambda bound: bound[0])
        return Position(line, offset - self._bounds[line - 1][0])

    def prefix(self, position: Position) -> str:
        """Return the text before a position on its line."""
        return self[position.line][: position.column]

    def _at(self, number: int) -> tuple[int, int, int]:
        last = len(self.text)
        return self._bounds[number - 1] if 0 < number <= len(self._bounds) else (last, last, last)


class SourceTexts:
    """The source files of a report in the version that its findings refer to, read on first use.

    Args:
        patch: the patch of the run; its old bytes stand for changed files.
        given: files that need not be read again, such as standard input.

    """

    def __init__(self, patch: Patch, given: Iterable[SourceFile] = ()) -> None:
        self._old = {change.path: change.old for change in patch.files}
        self._files: dict[str, SourceFile | None] = {file.path: file for file in given}
        self._lines: dict[str, Lines] = {}

    def file(self, path: str) -> SourceFile | None:
        """Return a file by the path that findings give; None if it can no longer be read."""
        if path not in self._files:
            try:
                old = self._old.get(path)
                self._files[path] = sources.read(path) if old is None else sources.decode(path, old)
            except SourceError:
                self._files[path] = None
        return self._files[path]

    def lines(self, path: str) -> Lines:
        """Return the lines of a file; no lines if it can no longer be read."""
        if path not in self._lines:
            file = self.file(path)
            self._lines[path] = Lines("" if file is None else file.text)
        return self._lines[path]
