"""After a patch: what is left is told with the lines of the files as they are now, so that who looks there finds it.

A finding that was repaired keeps the place where it was found: `check` told of it there, and there the diff takes it
away.  So do the lines of its story.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from devfix import sources
from devfix.engine.outcome import in_order
from devfix.engine.text_alignment import Alignment
from devfix.model import CellMap, Event, FileChange, Finding, Outcome, Problem, Resolution, Span, Status
from devfix.sources import SourceFile

__all__ = ["relocated"]


def relocated(outcome: Outcome, files: Iterable[SourceFile]) -> tuple[Outcome, tuple[SourceFile, ...]]:
    """What is told after the patch of an outcome, and the files in whose lines it is.

    Args:
        outcome: its patch is on the disk, or wherever the new text belongs.
        files: as they were read.

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
        """What an event shows of its line."""
        old, new = self.lines.here(event.line).strip(), self.lines.there(line).strip()
        if old == new:
            return event.source
        if self.new.cells is None:
            return new
        from devfix.sources.notebooks import as_written

        return as_written(new)

    def line_of_cell(self, line: int) -> int:
        """The line of the new program that has the same number in its cell as one of the old; itself in a script."""
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
    return replace(event, line=line, column=column, source=file.source(event, line))


def _kept(finding: Finding, changed: _ByPath) -> Finding:
    """The finding where it was; in a notebook, in the line of its cell where it was."""

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
