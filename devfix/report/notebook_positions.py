"""Notebooks as other programs see them: lines and columns of the JSON file, and replacements in it.

Code scanning, annotations of a pull request and reviewers' services know files, and no cells: a finding of a notebook
gets the place of its source within the file, and its message says the cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix import sources
from devfix.model import Event, Finding, Outcome, Patch, Problem, Resolution, Span
from devfix.report.positions import Texts
from devfix.sources import SourceFile

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["on_disk"]

_Spot = Callable[[int, int], tuple[int, int]]  # line and column of the program → those of the file


def on_disk(view: View) -> View:
    """The same view, in the lines of files; unchanged where no notebook is concerned."""
    if not view.report.outcome.notebooks:
        return view
    spots = {cells.path: spot for cells in view.report.outcome.notebooks if (spot := _spots(view, cells.path))}
    return replace(
        view,
        report=replace(view.report, outcome=_outcome(view.report.outcome, spots)),
        tried=_outcome(view.tried, spots),
        texts=_FileTexts(view.texts, view.tried.patch, spots),
    )


def _spots(view: View, path: str) -> _Spot | None:
    file = view.texts.file(path)
    if file is None or file.cells is None:
        return None
    from devfix.sources.notebooks import spots

    return spots(file)


class _FileTexts(Texts):
    """Files as they lie on the disk."""

    def __init__(self, texts: Texts, patch: Patch, notebooks: Iterable[str]) -> None:
        super().__init__(patch)
        self._texts = texts
        self._notebooks = frozenset(notebooks)

    def file(self, path: str) -> SourceFile | None:
        file = self._texts.file(path)
        if file is None or path not in self._notebooks:
            return file
        return replace(file, text=sources.as_text(file.raw), cells=None)


def _outcome(outcome: Outcome, spots: dict[str, _Spot]) -> Outcome:
    def resolution(item: Resolution) -> Resolution:
        return replace(item, finding=_finding(item.finding, outcome, spots))

    def problem(each: Problem) -> Problem:
        return replace(each, line=outcome.line_in_file(each.path, each.line))

    return replace(
        outcome,
        resolutions=tuple(map(resolution, outcome.resolutions)),
        problems=tuple(map(problem, outcome.problems)),
        notes=tuple(map(problem, outcome.notes)),
        notebooks=(),
    )


def _finding(finding: Finding, outcome: Outcome, spots: dict[str, _Spot]) -> Finding:
    place = outcome.place(finding.path, finding.span.line)
    message = finding.message if place is None else f"cell {place[0]}, line {place[1]}: {finding.message}"
    events = tuple(_event(event, spots) for event in finding.events)
    spot = spots.get(finding.path)
    span = finding.span
    if spot is not None:
        span = Span(*spot(span.line, span.column), *spot(span.end_line, span.end_column))
    return replace(finding, message=message, events=events, span=span)


def _event(event: Event, spots: dict[str, _Spot]) -> Event:
    spot = spots.get(event.path)
    if spot is None:
        return event
    line, column = spot(event.line, event.column)
    return replace(event, line=line, column=column)
