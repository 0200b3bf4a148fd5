"""Annotated source for pages: the lines around the steps of a finding, and the arrows from step to step.

A listing is a column of rows: headings of files, lines, notes below lines, and folds.  Arrows run in lanes left of the
line numbers, one cell per row and lane, so that a page draws them without a script at any width and on paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from devfix.report.positions import Lines, SourceTexts
from devfix.vcs.hunks import Piece, highlight_python

__all__ = ["Listings", "Row", "Step"]

_CONTEXT = 2  # lines around a step
_NEAR = 3  # lines between two steps that are not worth a fold
_MAX_FOLD = 150  # lines in a fold; longer ones are only counted
_AROUND = 40  # lines in the folds before the first step and after the last
_MAX_FOLDED = 20_000  # lines in all folds of a page
_MAX_LENGTH = 1000  # characters of a line
_MAX_LANES = 5
_DEFINITION = re.compile(r"(\s*)(?:async\s+def|def|class)\s")


@dataclass(frozen=True)
class Step:
    """A step of a story, such as an event of a finding.

    Attributes:
        kind: one word: ``created``, ``moved``, ``called``, ``used`` …
        tone: ``origin``, ``move``, ``call`` or ``failure``.
        path: the file.
        line: the line, from 1.
        column, end_column: the bounds of the expression in code points; ``end_column`` is 0 if it is not known.
        source: the stripped line, which stands for a file that cannot be read.
        note: a short clause.

    """

    kind: str
    tone: str
    path: str
    line: int
    column: int
    end_column: int
    source: str
    note: str


@dataclass
class Row:
    """A row of a listing.

    Attributes:
        kind: ``file``, ``line``, ``note``, ``fold`` (with ``rows``) or ``gap``.
        text: a path, a note, or a number of lines.
        path: the file of the row.
        line: the line; 0 for none.
        number: the line's number as text.
        pieces: its highlighted code; pieces of the kind ``marked`` are the expression.
        steps: numbers and steps on this line or of this note.
        lanes: a cell per lane, each with its classes.
        is_target: whether an arrow ends here.
        rows: the rows of a fold.

    """

    kind: str
    text: str = ""
    path: str = ""
    line: int = 0
    number: str = ""
    pieces: list[tuple[list[Piece], bool]] = field(default_factory=list)
    steps: list[tuple[int, Step]] = field(default_factory=list)
    lanes: list[str] = field(default_factory=list)
    is_target: bool = False
    rows: list[Row] = field(default_factory=list)

    @property
    def tone(self) -> str:
        """The tone of the last step on the line, or of a failure if there is one."""
        tones = [step.tone for _, step in self.steps]
        return "failure" if "failure" in tones else tones[-1] if tones else ""


class Listings:
    """The listings of a page.

    Args:
        texts: the source files.
        number: returns the text of a line's number, which counts within the cell in a notebook.

    """

    def __init__(self, texts: SourceTexts, number: Callable[[str, int], str]) -> None:
        self._texts = texts
        self._number = number
        self._highlighted: dict[str, list[list[Piece]]] = {}
        self._folded = 0

    def rows(self, steps: Sequence[Step]) -> list[Row]:
        """Return the listing of a story, in the order in which it mentions the files."""
        numbered = list(enumerate(steps, 1))
        rows: list[Row] = []
        for path in dict.fromkeys(step.path for step in steps):
            rows.append(Row("file", path, path))
            rows += self._file(path, [(number, step) for number, step in numbered if step.path == path])
        _draw_arrows(rows, len(numbered))
        return rows

    def _file(self, path: str, steps: Sequence[tuple[int, Step]]) -> Iterator[Row]:
        lines = self._lines(path)
        at = {line: [each for each in steps if each[1].line == line] for line in sorted({s.line for _, s in steps})}
        if not lines or max(at) > len(lines):
            for line, here in at.items():
                yield from self._line(path, line, [Piece("", here[0][1].source)], here)
            return
        shown = _shown(self._texts.lines(path), len(lines), list(at))
        last = 0
        for line in shown:
            yield from self._fold(path, last, line, is_edge=last == 0)
            yield from self._line(path, line, lines[line - 1], at.get(line, []))
            last = line
        yield from self._fold(path, last, len(lines) + 1, is_edge=True)

    def _lines(self, path: str) -> list[list[Piece]]:
        if path not in self._highlighted:
            lines = self._texts.lines(path)
            texts = [lines[number] for number in range(1, len(lines) + 1)]
            if texts and not texts[-1]:
                texts.pop()
            self._highlighted[path] = highlight_python(texts) if texts else []
        return self._highlighted[path]

    def _line(self, path: str, line: int, pieces: list[Piece], steps: list[tuple[int, Step]]) -> Iterator[Row]:
        bounds = [(step.column, step.end_column) for _, step in steps if step.end_column > 0]
        yield Row("line", "", path, line, self._number(path, line), _marked(_cut(pieces), bounds), steps)
        for number, step in steps:
            yield Row("note", step.note or step.kind, path, steps=[(number, step)])

    def _fold(self, path: str, last: int, line: int, *, is_edge: bool) -> Iterator[Row]:
        """Yield the fold of the lines between two shown lines; at an edge, only those near the shown line."""
        first, end = last + 1, line
        if is_edge and end - first > _AROUND:
            first, end = (line - _AROUND, line) if last == 0 else (first, first + _AROUND)
        count = end - first
        if count < 1:
            return
        told = f"{count} {'line' if count == 1 else 'lines'}"
        if count > _MAX_FOLD or self._folded + count > _MAX_FOLDED:
            yield Row("gap", told, path)
            return
        self._folded += count
        lines = self._lines(path)
        inside = [
            Row("line", "", path, number, self._number(path, number), _marked(_cut(lines[number - 1]), []))
            for number in range(first, end)
        ]
        yield Row("fold", told, path, rows=inside)


def _shown(lines: Lines, count: int, wanted: Sequence[int]) -> list[int]:
    """Return the lines to show: the context of each wanted line, the head of its function, and short gaps."""
    found: set[int] = set()
    for line in wanted:
        found.update(range(max(line - _CONTEXT, 1), min(line + _CONTEXT, count) + 1))
        found.update(_enclosing(lines, line))
    ordered = sorted(found)
    for one, other in pairwise(ordered):
        if other - one <= _NEAR:
            found.update(range(one, other))
    return sorted(found)


def _enclosing(lines: Lines, line: int) -> Iterator[int]:
    """Yield the line of the definition around a line, by indentation; nothing on the top level."""
    text = lines[line]
    indentation = len(text) - len(text.lstrip())
    for number in range(line - 1, 0, -1):
        if indentation == 0:
            return
        head = _DEFINITION.match(lines[number])
        if head and len(head[1]) < indentation:
            yield number
            return


def _cut(pieces: Sequence[Piece]) -> list[Piece]:
    left, found = _MAX_LENGTH, []
    for piece in pieces:
        if len(piece.text) > left:
            found.append(Piece(piece.kind, piece.text[:left] + "…"))
            break
        found.append(piece)
        left -= len(piece.text)
    return found


def _marked(pieces: Iterable[Piece], bounds: Sequence[tuple[int, int]]) -> list[tuple[list[Piece], bool]]:
    """Return the pieces in groups, and whether each group is inside one of the bounds."""
    groups: list[tuple[list[Piece], bool]] = []
    at = 0
    for piece in pieces:
        end = at + len(piece.text)
        cuts = sorted({at, end, *(edge for bound in bounds for edge in bound if at < edge < end)})
        for start, stop in pairwise(cuts):
            inside = any(low <= start and stop <= high for low, high in bounds)
            if not groups or groups[-1][1] != inside:
                groups.append(([], inside))
            groups[-1][0].append(Piece(piece.kind, piece.text[start - at : stop - at]))
        at = end
    return groups


def _draw_arrows(rows: Sequence[Row], count: int) -> None:
    """Give each row its cells of the lanes."""
    place = {number: at for at, row in enumerate(rows) if row.kind == "line" for number, _ in row.steps}
    arrows = [(place[number], place[number + 1]) for number in range(1, count) if place[number] != place[number + 1]]
    lanes: list[list[tuple[int, int]]] = []
    for start, end in sorted(arrows, key=lambda arrow: abs(arrow[1] - arrow[0])):
        low, high = min(start, end), max(start, end)
        free = next((lane for lane in lanes if all(_apart(low, high, *other) for other in lane)), None)
        if free is None:
            if len(lanes) == _MAX_LANES:
                continue
            lanes.append(free := [])
        free.append((start, end))
    cells: list[list[set[str]]] = [[set() for _ in lanes] for _ in rows]
    for number, lane in enumerate(reversed(lanes)):  # the shortest arrows are next to the code
        for start, end in lane:
            low, high = min(start, end), max(start, end)
            cells[low][number].add("down")
            cells[high][number].add("up")
            for at in range(low + 1, high):
                cells[at][number].add("through")
            for at in (low, high):
                cells[at][number].add(f"hook{len(lanes) - 1 - number}")
            rows[end].is_target = True
    for row, of_row in zip(rows, cells, strict=True):
        row.lanes = [" ".join(sorted(each)) for each in of_row]
        for inner in row.rows:
            inner.lanes = row.lanes


def _apart(low: int, high: int, start: int, end: int) -> bool:
    """Whether a range of rows touches an arrow at most at an end."""
    return high <= min(start, end) or low >= max(start, end)
