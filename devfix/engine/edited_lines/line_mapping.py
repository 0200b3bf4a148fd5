"""Line numbers after a patch: remaining findings are reported with the lines of the patched files.

A repaired finding and its event path keep the lines at which `check` reported them, because the diff removes them
there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from devfix import sources
from devfix.engine.edited_lines.text_alignment import Alignment
from devfix.engine.outcome import in_order
from devfix.model import CellMap, Event, FileChange, Finding, Outcome, Problem, Resolution, Span, Status
from devfix.sources import SourceFile

__all__ = ["relocated"]


def relocated(outcome: Outcome, files: Iterable[SourceFile]) -> tuple[Outcome, tuple[SourceFile, ...]]:
    """Return an outcome with the lines of the patched files, and these files.

    Args:
        outcome: an outcome whose patch was applied.
        files: the files as they were read.
    """
    changed = {os.path.abspath(change.path): _Changed(change) for change in outcome.patch.files}
    if not changed:
        return outcome, tuple(files)
    now = (changed.get(os.path.abspath(file.path), file) for file in files)
    told = replace(
        outcome,
        resolutions=in_order(_resolution(item, changed) for item in outcome.resolutions),
        problems=tuple(_problem(each, changed) for each in outcome.problems),
        notes=tuple(_problem(each, changed) for each in outcome.notes),
        notebooks=tuple(_cells(each, changed) for each in outcome.notebooks),
    )
    return told, tuple(file.new if isinstance(file, _Changed) else file for file in now)


class _Changed:
    """A file before and after its patch."""

    def __init__(self, change: FileChange) -> None:
        self.old = sources.decode(change.path, change.old)
        self.new = sources.decode(change.path, change.new)
        self.lines = Alignment(self.old.text, self.new.text)

    def source(self, event: Event, line: int) -> str:
        """Return the source line that an event shows."""
        old, new = self.lines.here(event.line).strip(), self.lines.there(line).strip()
        if old == new:
            return event.source
        if self.new.cells is None:
            return new
        from devfix.sources.notebooks import as_written

        return as_written(new)

    def line_of_cell(self, line: int) -> int:
        """Return the line of the new program with the same number in its cell; the same line in a script."""
        if self.old.cells is None or self.new.cells is None:
            return line
        cell = self.old.cells.cell(line)
        now = {each.number: each for each in self.new.cells.cells}
        return line if cell is None else line - cell.line + now[cell.number].line


_ByPath = Mapping[str, _Changed]


def _resolution(item: Resolution, changed: _ByPath) -> Resolution:
    move = _kept if item.status is Status.FIXED else _moved
    return replace(item, finding=move(item.finding, changed))


def _moved(finding: Finding, changed: _ByPath) -> Finding:
    file = changed.get(os.path.abspath(finding.path))
    span = finding.span if file is None else file.lines.span(finding.span)
    return replace(finding, span=span, events=tuple(_event(event, changed) for event in finding.events))


def _event(event: Event, changed: _ByPath) -> Event:
    file = changed.get(os.path.abspath(event.path))
    if file is None:
        return event
    line, column = file.lines.place(event.line, event.column)
    end_line, end_column = file.lines.place(event.line, event.end_column) if event.end_column else (0, 0)
    end = end_column if end_line == line else 0
    return replace(event, line=line, column=column, source=file.source(event, line), end_column=end)


def _kept(finding: Finding, changed: _ByPath) -> Finding:
    """Return a finding at its original position; in a notebook, at the original line of its cell."""

    def line(path: str, line: int) -> int:
        file = changed.get(os.path.abspath(path))
        return line if file is None else file.line_of_cell(line)

    first = line(finding.path, finding.span.line)
    last = first + finding.span.end_line - finding.span.line
    return replace(
        finding,
        span=Span(first, finding.span.column, last, finding.span.end_column),
        events=tuple(replace(event, line=line(event.path, event.line)) for event in finding.events),
    )


def _problem(problem: Problem, changed: _ByPath) -> Problem:
    file = changed.get(os.path.abspath(problem.path))
    return problem if file is None else replace(problem, line=file.lines.line(problem.line))


def _cells(cells: CellMap, changed: _ByPath) -> CellMap:
    file = changed.get(os.path.abspath(cells.path))
    return cells if file is None or file.new.cells is None else replace(file.new.cells, path=cells.path)
