"""Positions of a notebook's program in the notebook's file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from devfix.sources._source_file import SourceFile, as_text
from devfix.sources.notebooks._document import CodeCell, read_document
from devfix.sources.notebooks._literals import characters

__all__ = ["spots"]


def spots(file: SourceFile) -> Callable[[int, int], tuple[int, int]]:
    """Return a function from line (from 1) and column (code points from 0) of the program to those of the file."""
    assert file.cells is not None
    text = as_text(file.raw)
    cells = {cell.number: cell for cell in read_document(text).cells}
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    known: dict[int, list[int]] = {}

    def spot(line: int, column: int) -> tuple[int, int]:
        place = file.cells.place(line) if file.cells is not None else None
        if place is None:
            return line, column
        number, line = place
        cell = cells[number]
        if number not in known:
            known[number] = _offsets(text, cell)
        lines = cell.source.split("\n")
        at = sum(len(each) + 1 for each in lines[: line - 1]) + min(column, len(lines[line - 1]))
        offset = known[number][min(at, len(known[number]) - 1)]
        row = bisect_right(starts, offset)
        return row, offset - starts[row - 1]

    return spot


def _offsets(text: str, cell: CodeCell) -> list[int]:
    """Return the offset in the file of each character of a cell's source, and of its end."""
    found = []
    end = cell.start + 1
    for literal in cell.literals:
        for at, length in characters(text, literal):
            found.append(at)
            end = at + length
    return [*found, end]
