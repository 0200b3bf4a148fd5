"""A notebook's cells as one program, in their order, and a program's text back in the cells.

Each cell begins with a line that names it.  An edit across such a line is rejected, because it would move code into
another cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from devfix.model import CellMap, CellPlace
from devfix.sources.notebooks._document import CodeCell, Document
from devfix.sources.notebooks._magics import MARK, MORE, read_cell, taken_back

__all__ = ["Misplaced", "Program", "cells_in", "place_in", "program_of", "sources_in", "sources_of", "split"]

_HEAD = "# %% [cell {}]\uf7d5"
_HEADS = re.compile(r"^# %% \[cell (\d+)\]\uf7d5(?:\n|\Z)", re.MULTILINE)
_NEWLINE = re.compile(r"\r\n?|\n")
_WORD = re.compile(r"[^\W\d]\w*")
_FIRST_CODE = re.compile(r"\S.*")


class Misplaced(ValueError):
    """An edited program cannot be split into the cells."""


@dataclass(frozen=True)
class Program:
    """The analysed program; ``errors`` are syntax errors by line of the program."""

    text: str
    cells: CellMap
    errors: tuple[tuple[int, str], ...]


def program_of(path: str, document: Document) -> Program:
    """Return the program of a notebook's code cells."""
    parts: list[str] = []
    places: list[CellPlace] = []
    errors = []
    line = 1
    for cell, lines in zip(document.cells, _lines_in_file(document), strict=True):
        read = read_cell(cell.source)
        why = "cannot be parsed" if read.error else read.unclear and f"is under {read.unclear}, which is not followed"
        words = frozenset(_WORD.findall(cell.source)) if why else frozenset()
        if read.error is not None:
            errors.append((line + max(read.error[1], 1), read.error[0]))
        places.append(CellPlace(cell.number, line + 1, cell.count, lines, why, words))
        parts.append(f"{_HEAD.format(cell.number)}\n{read.text}\n")
        line += len(_NEWLINE.findall(parts[-1]))
    return Program("".join(parts), CellMap(path, tuple(places)), tuple(errors))


def cells_in(text: str, cells: CellMap) -> CellMap:
    """Return the positions of the cells in an edited program."""
    lines = split(text)
    return replace(cells, cells=tuple(replace(cell, line=lines[cell.number][0]) for cell in cells.cells))


def sources_of(document: Document, text: str) -> dict[int, str]:
    """Return the sources of the cells of an edited program, by cell number; raise `Misplaced` if it cannot be split."""
    before, after = split(program_of("", document).text), split(text)
    if list(before) != list(after):
        raise Misplaced("it would reach over the border of two cells")
    found = {}
    for cell in document.cells:
        old, new = before[cell.number][1], after[cell.number][1]
        if old == new:
            continue
        if _carried(old) != _carried(new):
            raise Misplaced(f"it would move what is IPython's in cell {cell.number}")
        if _has_code(old) and not _has_code(new):
            raise Misplaced(f"it would leave nothing in cell {cell.number}")
        try:
            found[cell.number] = taken_back(new)
        except ValueError as error:
            raise Misplaced(f"it would change what is IPython's in cell {cell.number}") from error
        _check_head(cell, found[cell.number])
    return found


def split(text: str) -> dict[int, tuple[int, str]]:
    """Return first line and text of each cell by number, without the final line break."""
    heads = list(_HEADS.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    if heads and heads[0].start() != 0:
        raise Misplaced("it would stand ahead of the first cell")
    line, found = 1, {}
    for head, end in zip(heads, ends, strict=True):
        found[int(head[1])] = line + 1, text[head.end() : end].removesuffix("\n")
        line += len(_NEWLINE.findall(text, head.start(), end))
    return found


def sources_in(text: str) -> dict[int, str]:
    """Return the Python of each cell of a program, by cell number."""
    return {number: body for number, (_, body) in split(text).items()}


def place_in(text: str, line: int) -> tuple[int, int] | None:
    """Return cell and line in it for a line of a program; ``None`` if the text is not a notebook's."""
    if not text.startswith("# %% [cell "):
        return None
    begins = [(first, number) for number, (first, _) in split(text).items() if first - 1 <= line]
    return (begins[-1][1], max(line - begins[-1][0], 0) + 1) if begins else None


def _carried(text: str) -> list[str]:
    """Yield the originals that stand-ins carry; the lines of one command stay together."""
    found: list[str] = []
    for line in text.split("\n"):
        more = line.startswith(MORE)
        if more or MARK in line:
            found.append(line if more else line[line.index(MARK) :])
        elif found and found[-1]:
            found.append("")  # something else stands between
    return found if not found or found[-1] else found[:-1]


def _has_code(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def _check_head(cell: CodeCell, new: str) -> None:
    """Check that a cell's magic is still its first line."""
    head = _FIRST_CODE.search(cell.source)
    if head is not None and head[0].startswith("%%"):
        first = _FIRST_CODE.search(new)
        if first is None or first[0] != head[0]:
            raise Misplaced(f"it would stand ahead of {head[0].split()[0]} in cell {cell.number}")


def _lines_in_file(document: Document) -> Iterator[tuple[int, ...]]:
    """Yield the line of the file on which each line of a cell's source begins, for each cell in their order."""
    at, line = 0, 1
    for cell in document.cells:
        found = []
        for start in [literal.start for literal in cell.literals] or [cell.start]:
            line += document.text.count("\n", at, start)
            at = start
            found.append(line)
        yield tuple(found)
