"""Execution order of a notebook's cells, and its effect on findings.

Cells are analysed from first to last, as "run all" runs them.  If the execution counts of a finding's cells show
another order, the author's intention is unknown, and nothing is edited; nor if a cell that cannot be analysed uses the
same names.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from devfix.model import CellMap, CellPlace, Event, Finding, MoveStatements, Outcome, Resolution, Span

__all__ = ["held_to_cells", "in_words_of_cells"]

_CODE = re.compile(r"`([^`]+)`")
_WORD = re.compile(r"[^\W\d]\w*")
#: Names that say nothing of what a cell is about.
_COMMON = frozenset({*keyword.kwlist, "torch", "nn", "F", "np", "plt", "print", "range", "len", "to", "cuda", "cpu"})

_IMPORT = re.compile(r"^(?:import|from)[ \t]+torch\b", re.MULTILINE)

Cells = Callable[[str], CellMap | None]
Texts = Callable[[str], str | None]


def held_to_cells(finding: Finding, cells_of: Cells, text_of: Texts) -> Finding:
    """Return a finding, without its fixes if the order of its cells is ambiguous.

    Args:
        finding: a finding in any file.
        cells_of: returns the cells of a path, if it is a notebook.
        text_of: returns the program of a path.
    """
    reason = _doubt(finding, cells_of, text_of) if finding.fixes else ""
    return replace(finding, fixes=(), reason=reason) if reason else finding


def _doubt(finding: Finding, cells_of: Cells, text_of: Texts) -> str:
    by_path: dict[str, list[int]] = {}
    for path, line in _lines(finding):
        by_path.setdefault(path, []).append(line)
    for path, lines in by_path.items():
        cells = cells_of(path)
        if cells is not None:
            found = _other_order(cells, lines) or _unclear(cells, finding) or _anew(cells, finding, text_of(path) or "")
            if found:
                return found
    return ""


def _lines(finding: Finding) -> Iterator[tuple[str, int]]:
    yield finding.path, finding.span.line
    yield from ((event.path, event.line) for event in finding.events)
    for edit in finding.fixes[0].edits:
        spans = (*edit.statements, edit.after) if isinstance(edit, MoveStatements) else _spans_of(edit)
        yield from ((edit.path, span.line) for span in spans)


def _spans_of(edit: object) -> Iterator[Span]:
    """Return the spans of an edit; every kind but a move has one, under its own name."""
    yield from (value for value in vars(edit).values() if isinstance(value, Span))


def _other_order(cells: CellMap, lines: list[int]) -> str:
    places = {cell.number: cell for line in lines if (cell := cells.cell(line)) is not None}
    ran = [places[number] for number in sorted(places) if places[number].count is not None]
    for one, other in pairwise(ran):
        if (one.count or 0) > (other.count or 0):
            return (
                f"cell {other.number} was last run before cell {one.number} (execution counts {other.count} and"
                f" {one.count}), so which order is meant is open: restart the kernel, run all cells and save"
            )
    return ""


def _unclear(cells: CellMap, finding: Finding) -> str:
    unclear = [cell for cell in cells.cells if cell.unclear]
    if not unclear:
        return ""
    titles = [fix.title for fix in finding.fixes]
    said = " ".join(code for text in (finding.message, *titles) for code in _CODE.findall(text))
    words = {word for word in _WORD.findall(said) if word not in _COMMON}
    return next((_told(cell, words) for cell in unclear if words & cell.words), "")


def _told(cell: CellPlace, words: set[str]) -> str:
    return f"cell {cell.number} {cell.unclear}, and speaks of `{min(words & cell.words)}`"


def _anew(cells: CellMap, finding: Finding, text: str) -> str:
    """Return whether a section that imports torch again is run without those before it, and has none of their names.

    If its values meet those of other cells, it cannot run without them, and may have their names as well.
    """
    if any(event.kind == "used" for event in finding.events):
        return ""
    from devfix.sources.notebooks import sources_in

    by_number = sources_in(text)
    first = next((number for number, source in by_number.items() if _IMPORT.search(source)), 0)
    for edit in finding.fixes[0].edits:
        cell = cells.cell(next(_spans_of(edit)).line) if edit.path == cells.path else None
        code = getattr(edit, "code", "") or getattr(edit, "value", "")
        if cell is None or cell.number == first or not _IMPORT.search(by_number[cell.number]):
            continue
        wanted = set(_WORD.findall(str(code))) - set(_WORD.findall(by_number[cell.number])) - _COMMON
        if wanted:
            name = min(wanted)
            return f"cell {cell.number} imports torch anew, as a section that is run by itself: `{name}` is not its own"
    return ""


def in_words_of_cells(outcome: Outcome) -> Outcome:
    """Return an outcome whose lines of notebooks are the originals, instead of their stand-ins."""
    from devfix.sources.notebooks import as_written

    def event(each: Event) -> Event:
        return replace(each, source=as_written(each.source))

    def resolution(item: Resolution) -> Resolution:
        finding = replace(item.finding, events=tuple(map(event, item.finding.events)))
        return replace(item, finding=finding)

    return replace(outcome, resolutions=tuple(map(resolution, outcome.resolutions)))
