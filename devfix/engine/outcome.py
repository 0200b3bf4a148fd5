"""The resolution of each finding of a run: repaired, left with a reason, suppressed, or out of scope."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix import sources
from devfix.engine.scan import Identity, identity, position
from devfix.engine.workspace import Workspace
from devfix.model import Applicability, FileChange, Finding, Fix, Outcome, Patch, Problem, Resolution, Status
from devfix.sources.notebooks.cell_order import in_words_of_cells

if TYPE_CHECKING:
    from devfix.engine.changed_lines import Scope
    from devfix.engine.suppressions import Suppressions

__all__ = ["DROPPED", "Resolutions", "in_order"]

DROPPED = "the edit was dropped, because "  # begins the reason of an edit that was tried


class Resolutions:
    """Resolutions by finding, in the order of programs; one per cause.

    Args:
        space: the texts of the run.
        comments: suppressions of the given files.
        without: findings that the caller excludes.
        repair: whether the run repairs or only reports.
        scope: the changed lines that the run reports on; ``None`` for everything.
        outside: findings out of scope, which are not reported.
    """

    def __init__(
        self,
        space: Workspace,
        comments: dict[str, Suppressions],
        without: Container[Identity],
        repair: bool,
        scope: Scope | None = None,
        outside: frozenset[Identity] = frozenset(),
    ) -> None:
        self.space = space
        self.repairing = repair
        self.scope = scope
        self._outside = outside
        self.without = without
        self.comments = comments
        self.resolutions: dict[Identity, Resolution] = {}
        self.problems: dict[Problem, None] = {}
        self.partly: list[str] = []

    def suppressed(self, finding: Finding) -> bool:
        """Return whether a comment in the given file suppresses the finding."""
        known = self.comments.get(finding.path)
        return known is not None and known.match(finding.code, finding.span, finding.name)

    def usable(self, finding: Finding) -> list[Fix]:
        """Return the fixes that this run may apply, best first."""
        unsafe = self.space.settings.unsafe_fixes
        allowed = [fix for fix in finding.fixes if unsafe or fix.applicability is Applicability.SAFE]
        inside = [r for r in allowed if all(os.path.abspath(path) in self.space.given for path in r.paths)]
        inside = [fix for fix in inside if not self._refused(fix)]
        return sorted(inside, key=lambda fix: fix.applicability is Applicability.SAFE) if unsafe else inside

    def _refused(self, fix: Fix) -> str:
        return self.scope.why_not_edited(fix) if self.scope is not None and self.repairing else ""

    def left_out(self, finding: Finding) -> bool:
        """Return whether a finding is suppressed or excluded by the caller."""
        return identity(finding) in self.without or self.suppressed(finding)

    def open_to_repair(self, finding: Finding) -> bool:
        """Return whether this run can try to repair a finding."""
        known = self.resolutions.get(identity(finding))
        if identity(finding) in self.without or identity(finding) in self._outside:
            return False
        return known is None and bool(self.usable(finding)) and not self.suppressed(finding)

    def settle(self, finding: Finding, status: Status, reason: str = "", fix: Fix | None = None) -> None:
        """Record the resolution of a finding; a repair overrides earlier ones, and a fix those without."""
        known = self.resolutions.get(identity(finding))
        is_tried = known is not None and known.reason.startswith(DROPPED)
        is_first_fix = (
            known is not None and known.status is Status.NOT_FIXED and status is Status.FIXABLE and not is_tried
        )
        if known is None or is_first_fix or (status is Status.FIXED and known.status is not Status.FIXED):
            self.resolutions[identity(finding)] = Resolution(finding, status, reason, fix)

    def concerns(self, finding: Finding) -> bool:
        """Return whether a finding is in the scope of the run, and not suppressed."""
        return not self.suppressed(finding) and identity(finding) not in self._outside

    def leave(self, findings: Iterable[Finding]) -> None:
        """Record findings that are not repaired."""
        for finding in findings:
            usable = self.usable(finding)
            suppressed = self.suppressed(finding)
            if identity(finding) in self._outside:
                continue
            if suppressed:
                self.settle(finding, Status.SUPPRESSED)
            elif identity(finding) in self.without:
                self.settle(finding, Status.NOT_FIXED, "left out")
            elif usable and not self.repairing:
                self.settle(finding, Status.FIXABLE, fix=usable[0])
            elif finding.fixes:
                self.settle(finding, *self._why_left(finding, finding.fixes[0]))
            else:
                self.settle(finding, Status.NOT_FIXED, finding.reason or "no fix is known")

    def outcome(self, checked: int) -> Outcome:
        """Return the sorted outcome; the patch contains the files whose text changed."""
        changes = []
        for key, text in sorted(self.space.changed.items()):
            file = self.space.given[key]
            new = sources.encode(file, text)
            if new != file.raw:
                changes.append(FileChange(file.path, file.raw, new))
        resolutions = in_order(map(self._as_given, self.resolutions.values()))
        problems = sorted(self.problems, key=lambda problem: (problem.path, problem.line, problem.message))
        patch = Patch(tuple(sorted(changes, key=lambda change: change.path)))
        notebooks = tuple(file.cells for file in self.space.given.values() if file.cells is not None)
        told = resolutions, patch, self._wanted(problems), checked, self._wanted(self._notes()), notebooks
        return in_words_of_cells(Outcome(*told)) if notebooks else Outcome(*told)

    def _as_given(self, item: Resolution) -> Resolution:
        """Return a finding with the source lines of the given texts instead of edited ones."""
        events = tuple(map(self.space.given_event, item.finding.events))
        return item if events == item.finding.events else replace(item, finding=replace(item.finding, events=events))

    def _wanted(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        return tuple(problem for problem in problems if self.scope is None or self.scope.concerns(problem))

    def _notes(self) -> list[Problem]:
        from devfix.rules.registry import rule_for

        def enabled(code: str) -> bool:
            rule = rule_for(code)
            settings = self.space.settings
            asked = rule is not None and (rule.default or settings.asks_for(rule.code))
            return rule is not None and asked and settings.enabled(rule.code, "")

        hint = "what comes after that point was not analysed"
        notes = [note for file in self.space.given.values() for note in file.notes]
        notes += [Problem(path, "followed only in part, for its size", hint=hint) for path in self.partly]
        for path, known in sorted(self.comments.items()):
            for line, codes in known.unused(enabled):
                listed = f" ({', '.join(codes)})" if codes else ""
                notes.append(Problem(path, f"unused suppression{listed}", line, "remove the comment"))
        return notes

    def _why_left(self, finding: Finding, fix: Fix) -> tuple[Status, str, Fix]:
        outside = [path for path in fix.paths if os.path.abspath(path) not in self.space.given]
        if outside:
            given = " ".join(sorted({*outside, finding.path}))
            return Status.NOT_FIXED, f"the edit belongs in {', '.join(outside)}: run devfix apply {given}", fix
        if refused := self._refused(fix):
            return Status.NOT_FIXED, refused, fix
        if fix.applicability is Applicability.SAFE:
            return Status.FIXABLE, "another edit of this run made the fix possible: run the command again", fix
        return Status.FIXABLE, "the fix is unsafe: --unsafe-fixes applies it", fix


def in_order(resolutions: Iterable[Resolution]) -> tuple[Resolution, ...]:
    """Return resolutions sorted by the positions of their findings."""
    return tuple(sorted(resolutions, key=lambda item: position(item.finding)))
