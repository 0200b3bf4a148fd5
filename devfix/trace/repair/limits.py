"""Limits of a repair by running: files, lines and rules that comments, configuration and options exclude."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from devfix import sources
from devfix.config import Settings
from devfix.engine import suppressions
from devfix.engine.suppressions import Suppressions
from devfix.model import AddKeyword, Edit, InsertStatement, MoveStatements, Problem, ReplaceStatement, Span
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import Position
from devfix.trace.findings import code_and_name, span_of
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.edited_sources import EditedSources
from devfix.verify.project import Project

__all__ = ["Bounds"]


class Bounds:
    """The files and lines that may be edited; the same limits apply to the static rules.

    Args:
        project: the program.
        settings: the settings of this run.
        given: paths named on the command line, which may be edited even if excluded or ignored by git.

    Attributes:
        settings: the settings of this run.

    """

    def __init__(self, project: Project, settings: Settings, given: Iterable[str] = ()) -> None:
        self.settings = settings
        self._project = project
        found = sources.discover([str(project.root)], settings.exclude, settings.root).files
        self._found = {os.path.realpath(path) for path in found}
        self._named = {os.path.realpath(path) for path in given if os.path.isfile(path)}
        self._comments: dict[str, Suppressions] = {}
        self._suppressing: set[str] = set()

    def may_edit(self, path: str) -> bool:
        """Return whether a file may be edited, by its path within the project."""
        real = os.path.realpath(self._project.root / path)
        if real in self._named:
            return True
        return real in self._found and not sources.is_generated(Path(real).read_bytes())

    def disabled_reason(self, diagnosis: Diagnosis) -> str:
        """Return the reason for which options or configuration exclude a failure; empty if they do not."""
        code, _ = code_and_name(diagnosis)
        file = self._project.shown(_cause_position(diagnosis).file)
        return "" if self.settings.enabled(code, file) else f"{code} is not enabled for {file}"

    def is_suppressed(self, diagnosis: Diagnosis, edited: EditedSources) -> bool:
        """Return whether a comment at the cause suppresses it."""
        cause = _cause_position(diagnosis)
        return self._has_comment(cause.file, span_of(cause, edited), diagnosis, edited)

    def allows(self, candidate: Candidate, diagnosis: Diagnosis, edited: EditedSources) -> bool:
        """Return whether a candidate may be applied: its files may be edited, and no comment excludes its lines."""
        code, _ = code_and_name(diagnosis)
        return all(
            self.may_edit(edit.path)
            and self.settings.enabled(code, self._project.shown(edit.path))
            and not any(self._has_comment(edit.path, span, diagnosis, edited) for span in _edited_spans(edit))
            for edit in candidate.edits
        )

    def is_still_valid(self, note: Problem) -> bool:
        """Return whether a note still holds: a comment that suppresses a traced failure is not unused."""
        relative = os.path.relpath(self._project.absolute(note.path), self._project.root)
        if relative not in self._suppressing or not note.message.startswith("unused suppression"):
            return True
        return any(line == note.line for line, _ in self._comments[relative].unused())

    def _has_comment(self, path: str, span: Span, diagnosis: Diagnosis, edited: EditedSources) -> bool:
        text = edited.text(path)
        if text is None:
            return False
        is_original = path not in edited.changes
        comments = self._comments.get(path) if is_original else None
        if comments is None:
            comments = suppressions.collect(text)
            if is_original:
                self._comments[path] = comments
        is_suppressed = comments.skip_file or comments.match(*_suppression_key(diagnosis, span))
        if is_suppressed and is_original:
            self._suppressing.add(path)
        return is_suppressed


def _suppression_key(diagnosis: Diagnosis, span: Span) -> tuple[str, Span, str]:
    code, name = code_and_name(diagnosis)
    return code, span, name


def _cause_position(diagnosis: Diagnosis) -> Position:
    origin = diagnosis.origin
    return origin.position if origin is not None and origin.position is not None else diagnosis.where


def _edited_spans(edit: Edit) -> tuple[Span, ...]:
    if isinstance(edit, MoveStatements):
        return (*edit.statements, edit.after)
    if isinstance(edit, InsertStatement):
        return (edit.anchor,)
    if isinstance(edit, AddKeyword):
        return (edit.call,)
    return (edit.statement,) if isinstance(edit, ReplaceStatement) else (edit.expression,)
