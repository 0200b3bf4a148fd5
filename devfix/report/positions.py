"""Places in files as formats count them: lines from 1; columns in UTF-16 code units or UTF-8 bytes, from 1.

Findings count columns in code points from 0, over the text as it was read, without a byte-order mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from devfix import sources
from devfix.model import Patch
from devfix.sources import SourceError, SourceFile

__all__ = ["Lines", "Place", "Texts", "in_utf8", "in_utf16"]

#: Where a line ends: as Python ends it, and nowhere else (a form feed ends none).
_END = re.compile(r"\r\n|\r|\n")


class Place(NamedTuple):
    """A place in a text: line from 1, column in code points from 0."""

    line: int
    column: int


def in_utf16(text: str) -> int:
    """How many UTF-16 code units a text has."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def in_utf8(text: str) -> int:
    """How many bytes a text has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Lines:
    """A text by its lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _bounds(self) -> list[tuple[int, int, int]]:
        """Of each line where it starts, where its text ends, and where the next one starts."""
        found, start = [], 0
        for end in _END.finditer(self.text):
            found.append((start, end.start(), end.end()))
            start = end.end()
        found.append((start, len(self.text), len(self.text)))
        return found

    def __len__(self) -> int:
        return len(self._bounds)

    def __getitem__(self, number: int) -> str:
        """The line with this number, without its end; empty where there is none."""
        start, end, _ = self._at(number)
        return self.text[start:end]

    def whole(self) -> list[str]:
        """The lines with their ends; an empty last one is left out."""
        return [self.text[start:after] for start, _, after in self._bounds if start < after]

    def start(self, number: int) -> int:
        """Where a line starts in the text."""
        return self._at(number)[0]

    def end(self, number: int) -> int:
        """Where a line's text ends, ahead of its end of line."""
        return self._at(number)[1]

    def place(self, offset: int) -> Place:
        """Line and column of an offset in the text."""
        from bisect import bisect_right

        line = bisect_right(self._bounds, offset, key=lambda bound: bound[0])
        return Place(line, offset - self._bounds[line - 1][0])

    def before(self, place: Place) -> str:
        """What stands ahead of a place on its line."""
        return self[place.line][: place.column]

    def _at(self, number: int) -> tuple[int, int, int]:
        last = len(self.text)
        return self._bounds[number - 1] if 0 < number <= len(self._bounds) else (last, last, last)


class Texts:
    """The files of a report as they were when findings counted their lines, read when they are asked for.

    Args:
        patch: what has been written, or would be: its old bytes count.
        given: what was not read from the disk, as standard input.

    """

    def __init__(self, patch: Patch, given: Iterable[SourceFile] = ()) -> None:
        self._old = {change.path: change.old for change in patch.files}
        self._files: dict[str, SourceFile | None] = {file.path: file for file in given}
        self._lines: dict[str, Lines] = {}

    def file(self, path: str) -> SourceFile | None:
        """The file under the name that findings give it; None where it can no longer be read."""
        if path not in self._files:
            try:
                old = self._old.get(path)
                self._files[path] = sources.read(path) if old is None else sources.decode(path, old)
            except SourceError:
                self._files[path] = None
        return self._files[path]

    def lines(self, path: str) -> Lines:
        """The lines of a file; none where it can no longer be read."""
        if path not in self._lines:
            file = self.file(path)
            self._lines[path] = Lines("" if file is None else file.text)
        return self._lines[path]
