"""Fixes that can be tried at once, because none touches a line that the finding of another one tells of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from devfix.engine.scan import identity
from devfix.engine.workspace import Workspace
from devfix.model import Edit, Finding, Fix, MoveStatements

if TYPE_CHECKING:
    from devfix.engine.edit_trials import Objection

__all__ = ["IndependentFixes", "Pair", "suspects"]

#: A finding and the fix that is tried for it.
Pair = tuple[Finding, Fix]


class IndependentFixes:
    """A growing list of independent fixes with their findings.

    Args:
        space: the texts; lines are compared as they are in the given ones.

    """

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._told: set[tuple[str, int]] = set()
        self._edited: set[tuple[str, int]] = set()
        self.pairs: list[Pair] = []

    def add(self, finding: Finding, fix: Fix) -> bool:
        """Add a fix unless it depends on one of the others; return whether it was added."""
        story = {(event.path, event.line) for event in finding.events} | {(finding.path, finding.span.line)}
        lines = set(self._lines(fix))
        if not self._edited.isdisjoint(story | lines) or not self._told.isdisjoint(lines):
            return False
        self.pairs.append((finding, fix))
        self._told |= story
        self._edited |= lines
        return True

    def _lines(self, fix: Fix) -> Iterator[tuple[str, int]]:
        """Yield file and given line of everything that a fix touches."""
        for edit in fix.edits:
            for start, end in _touched(edit):
                for line in range(start, end + 1):
                    yield edit.path, self._space.given_line(edit.path, line)


def suspects(batch: Sequence[Pair], objection: Objection) -> list[Pair]:
    """Return the fixes that an objection is about, as far as it tells; else half of them."""
    lines = {(event.path, event.line) for finding in objection.fresh for event in finding.events}
    about = {identity(finding) for finding in objection.remaining}
    found = [
        (finding, fix)
        for finding, fix in batch
        if identity(finding) in about or not lines.isdisjoint((event.path, event.line) for event in finding.events)
    ]
    return found if 0 < len(found) < len(batch) else list(batch[: (len(batch) + 1) // 2])


def _touched(edit: Edit) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each span of an edit."""
    if isinstance(edit, MoveStatements):
        spans = [*edit.statements, edit.after]
    else:
        names = ("anchor", "expression", "call", "statement")
        spans = [getattr(edit, name) for name in names if hasattr(edit, name)]
    for span in spans:
        yield span.line, span.end_line
