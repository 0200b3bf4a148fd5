"""Findings that a change affects: on changed lines, or absent before the change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.engine.parallel_scan import Workers, scan_all
from devfix.engine.scan import Identity, Scan, identity
from devfix.engine.workspace import Workspace
from devfix.model import Finding
from devfix.sources import SourceFile

if TYPE_CHECKING:
    from devfix.engine.changed_lines import Scope

__all__ = ["unconcerned"]

#: Identifies a finding before and after a change, wherever it has moved in its file.
_Likeness = tuple[str, str, str, str]


def unconcerned(scope: Scope, space: Workspace, scans: Sequence[Scan], jobs: int) -> frozenset[Identity]:
    """Return the findings that existed before the change and touch no changed line.

    Args:
        scope: the changed lines.
        space: the present texts.
        scans: their findings.
        jobs: worker processes for the scan of the old texts.
    """
    away = [(scan, finding) for scan in scans for finding in scan.findings if not scope.touches(finding)]
    affected = sorted({scan.path for scan, _ in away if _reads(scan, scope)})
    given = [_before(scope, file) for file in space.given.values()]
    earlier = Workspace([file for file in given if file is not None], space.settings, {**scope.texts, **scope.before})
    with Workers(earlier, jobs) as workers:
        scanned = scan_all(earlier, affected, workers)
    there = _count(earlier, (finding for scan in scanned for finding in scan.findings))
    here = _count(space, (finding for scan, finding in away if scan.path in affected))
    return frozenset(
        identity(finding)
        for scan, finding in away
        if scan.path not in affected or here[_likeness(space, finding)] <= there[_likeness(space, finding)]
    )


def _reads(scan: Scan, scope: Scope) -> bool:
    return any(os.path.realpath(path) in scope.before for path in scan.files)


def _before(scope: Scope, file: SourceFile) -> SourceFile | None:
    real = os.path.realpath(file.path)
    if real not in scope.before:
        return file
    earlier = scope.before[real]
    return None if earlier is None else replace(earlier, path=file.path)


def _count(space: Workspace, findings: Iterable[Finding]) -> Counter[_Likeness]:
    """Count each finding once, even if several programs have it."""
    return Counter(_likeness(space, finding) for finding in {identity(each): each for each in findings}.values())


def _likeness(space: Workspace, finding: Finding) -> _Likeness:
    lines = (space.text(finding.path) or "").splitlines()
    line = lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""
    return finding.code, finding.path, finding.message, line
