"""Edits of correct code: list and count the fixes that devfix proposes in given trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Edit", "Tree", "scan"]


@dataclass(frozen=True)
class Edit:
    """One edit of ``devfix apply``, or (``made`` false) one finding without an edit."""

    path: str
    line: int
    code: str
    message: str
    made: bool


@dataclass(frozen=True)
class Tree:
    """The findings of one tree."""

    path: str
    files: int
    lines: int
    edits: tuple[Edit, ...]
    problems: tuple[str, ...]

    @property
    def rate(self) -> float:
        """Return the edits per 100,000 lines."""
        return 100_000 * sum(edit.made for edit in self.edits) / self.lines if self.lines else 0.0


def scan(paths: Sequence[str], jobs: int) -> Iterator[Tree]:
    """Apply safe fixes at severity ``error`` to each tree in memory; nothing is written."""
    from devfix import config, sources
    from devfix.engine import fixpoint
    from devfix.model import Status
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    for path in paths:
        files, _ = sources.load([path])
        settings = config.load([path], known, isolated=True)
        outcome = fixpoint.apply(files, settings, jobs)
        edits = [
            Edit(r.finding.path, r.finding.span.line, r.finding.code, r.finding.message, r.status is Status.FIXED)
            for r in outcome.resolutions
            if r.status is not Status.SUPPRESSED
        ]
        crashed = [f"{p.path}: {p.message}" for p in outcome.problems if "internal error" in p.message]
        lines = sum(file.text.count("\n") for file in files)
        yield Tree(path, len(files), lines, tuple(edits), tuple(crashed))
