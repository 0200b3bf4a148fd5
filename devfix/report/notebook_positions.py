"""Notebook findings in lines and columns of the JSON file.

Code scanning, pull request annotations and review services have no notion of cells.  For them, findings and
replacements in a notebook get positions in the ``.ipynb`` file, and the message names the cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix import sources
from devfix.model import Event, Finding, Outcome, Patch, Problem, Resolution, Span
from devfix.report.positions import SourceTexts
from devfix.sources import SourceFile

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["to_file_positions"]

_PositionMap = Callable[[int, int], tuple[int, int]]  # line and column in the program → those in the file


def to_file_positions(view: View) -> View:
    """Return the view with positions in files; the same view if it has no notebooks."""
    if not view.report.outcome.notebooks:
        return view
    maps = {
        cells.path: position_map
        for cells in view.report.outcome.notebooks
        if (position_map := _position_map(view, cells.path))
    }
    return replace(
        view,
        report=replace(view.report, outcome=_outcome(view.report.outcome, maps)),
        preview=_outcome(view.preview, maps),
        texts=_FileTexts(view.texts, view.preview.patch, maps),
    )


def _position_map(view: View, path: str) -> _PositionMap | None:
    file = view.texts.file(path)
    if file is None or file.cells is None:
        return None
    from devfix.sources.notebooks import spots

    return spots(file)


class _FileTexts(SourceTexts):
    """Source files, with notebooks as JSON text."""

    def __init__(self, texts: SourceTexts, patch: Patch, notebooks: Iterable[str]) -> None:
        super().__init__(patch)
        self._texts = texts
        self._notebooks = frozenset(notebooks)

    def file(self, path: str) -> SourceFile | None:
        file = self._texts.file(path)
        if file is None or path not in self._notebooks:
            return file
        return replace(file, text=sources.as_text(file.raw), cells=None)


def _outcome(outcome: Outcome, maps: dict[str, _PositionMap]) -> Outcome:
    def resolution(item: Resolution) -> Resolution:
        return replace(item, finding=_finding(item.finding, outcome, maps))

    def problem(each: Problem) -> Problem:
        return replace(each, line=outcome.line_in_file(each.path, each.line))

    return replace(
        outcome,
        resolutions=tuple(map(resolution, outcome.resolutions)),
        problems=tuple(map(problem, outcome.problems)),
        notes=tuple(map(problem, outcome.notes)),
        notebooks=(),
    )


def _finding(finding: Finding, outcome: Outcome, maps: dict[str, _PositionMap]) -> Finding:
    cell_line = outcome.place(finding.path, finding.span.line)
    message = finding.message if cell_line is None else f"cell {cell_line[0]}, line {cell_line[1]}: {finding.message}"
    events = tuple(_event(event, maps) for event in finding.events)
    to_file = maps.get(finding.path)
    span = finding.span
    if to_file is not None:
        span = Span(*to_file(span.line, span.column), *to_file(span.end_line, span.end_column))
    return replace(finding, message=message, events=events, span=span)


def _event(event: Event, maps: dict[str, _PositionMap]) -> Event:
    to_file = maps.get(event.path)
    if to_file is None:
        return event
    line, column = to_file(event.line, event.column)
    return replace(event, line=line, column=column)
