"""What a repair by running leaves alone: what comments, configuration and flags say of rules, lines and files."""

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
from devfix.trace.findings import code_and_name, span_of
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.story import Position
from devfix.verify.project import Project

__all__ = ["Bounds"]


class Bounds:
    """Says what may be edited, as it holds for what reading repairs.

    Args:
        project: the program.
        settings: of this run.
        given: paths that were named, which are edited although they are excluded or ignored by git.

    Attributes:
        settings: the same.

    """

    def __init__(self, project: Project, settings: Settings, given: Iterable[str] = ()) -> None:
        self.settings = settings
        self._project = project
        found = sources.discover([str(project.root)], settings.exclude, settings.root).files
        self._found = {os.path.realpath(path) for path in found}
        self._named = {os.path.realpath(path) for path in given if os.path.isfile(path)}
        self._comments: dict[str, Suppressions] = {}
        self._answered: set[str] = set()

    def holds(self, path: str) -> bool:
        """Whether a file of the project, by its path within it, may change."""
        real = os.path.realpath(self._project.root / path)
        if real in self._named:
            return True
        return real in self._found and not sources.is_generated(Path(real).read_bytes())

    def ignored(self, diagnosis: Diagnosis) -> str:
        """Why the flags or the configuration leave a failure alone; empty if they do not."""
        code, _ = code_and_name(diagnosis)
        file = self._project.shown(_cause(diagnosis).file)
        return "" if self.settings.enabled(code, file) else f"{code} is not looked for in {file}"

    def answered(self, diagnosis: Diagnosis, texts: Texts) -> bool:
        """Whether a comment where the cause is answers for it."""
        at = _cause(diagnosis)
        return self._says(at.file, span_of(at, texts), diagnosis, texts)

    def allows(self, candidate: Candidate, diagnosis: Diagnosis, texts: Texts) -> bool:
        """Whether an edit may be made: its files may change, and no comment stands at its lines."""
        code, _ = code_and_name(diagnosis)
        return all(
            self.holds(edit.path)
            and self.settings.enabled(code, self._project.shown(edit.path))
            and not any(self._says(edit.path, span, diagnosis, texts) for span in _spans(edit))
            for edit in candidate.edits
        )

    def needed(self, note: Problem) -> bool:
        """Whether a note still holds: a comment that answers for what a run showed is no unused one."""
        within = os.path.relpath(self._project.absolute(note.path), self._project.root)
        if within not in self._answered or not note.message.startswith("unused suppression"):
            return True
        return any(line == note.line for line, _ in self._comments[within].unused())

    def _says(self, path: str, span: Span, diagnosis: Diagnosis, texts: Texts) -> bool:
        text = texts.text(path)
        if text is None:
            return False
        original = path not in texts.changes
        comments = self._comments.get(path) if original else None
        if comments is None:
            comments = suppressions.collect(text)
            if original:
                self._comments[path] = comments
        said = comments.skip_file or comments.match(*_asked(diagnosis, span))
        if said and original:
            self._answered.add(path)
        return said


def _asked(diagnosis: Diagnosis, span: Span) -> tuple[str, Span, str]:
    code, name = code_and_name(diagnosis)
    return code, span, name


def _cause(diagnosis: Diagnosis) -> Position:
    born = diagnosis.born
    return born.position if born is not None and born.position is not None else diagnosis.where


def _spans(edit: Edit) -> tuple[Span, ...]:
    if isinstance(edit, MoveStatements):
        return (*edit.statements, edit.after)
    if isinstance(edit, InsertStatement):
        return (edit.anchor,)
    if isinstance(edit, AddKeyword):
        return (edit.call,)
    return (edit.statement,) if isinstance(edit, ReplaceStatement) else (edit.expression,)
