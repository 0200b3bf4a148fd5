"""The check of a patch: written, and analysed again, it leaves no more findings than it promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint, write
from devfix.engine.cache import Cache
from devfix.model import Finding, Outcome, Patch, Resolution, Status
from devfix.sources import SourceError, SourceFile

__all__ = ["UnstableError", "stable_outcome"]

_MOST_ATTEMPTS = 3
_OPEN = (Status.FIXABLE, Status.NOT_FIXED)
_STILL_THERE = "the edit was dropped, because the finding is still there after it, in another program or at another use"


class UnstableError(Exception):
    """After the patch, there are more findings than expected; the message names one."""


def stable_outcome(
    outcome: Outcome, files: Sequence[SourceFile], settings: Settings, scans: Cache, *, may_drop: bool
) -> Outcome:
    """Return an outcome whose patch leaves no more findings than its resolutions say.

    A finding that remains although it counts as fixed, for example in another program, is left out: the other findings
    are repaired without it.

    Args:
        outcome: findings and patch; the patch is not written yet, and not afterwards.
        files: the files that were analysed.
        settings: their settings.
        scans: the scans that were made of them.
        may_drop: whether edits may be left out; otherwise the whole patch is refused, because it was proved as a whole.

    Raises:
        UnstableError: the patch cannot be written, or new findings appear.

    """
    dropped: list[Finding] = []
    for _ in range(_MOST_ATTEMPTS):
        found = _open_after(outcome.patch, files, settings, scans) if outcome.patch.files else []
        expected = [item.finding for item in outcome.resolutions if item.status in _OPEN]
        if len(found) <= len(expected):
            return _with_reasons(outcome, dropped)
        unexpected = Counter(map(_identity, found)) - Counter(map(_identity, expected))
        again = [
            item.finding
            for item in outcome.resolutions
            if item.status is Status.FIXED and _identity(item.finding) in unexpected
        ]
        if not again or not may_drop:
            break
        dropped += again
        outcome = _without(dropped, outcome, files, settings, scans)
    example = next((finding for finding in found if _identity(finding) in unexpected), found[0])
    raise UnstableError(
        f"the patch was discarded: after it, {len(found)} findings remain instead of {len(expected)}: "
        f"{example.path}:{example.span.line} {example.code} {example.message}"
    )


def _identity(finding: Finding) -> tuple[str, str, str]:
    """Return what edits on other lines leave as it is."""
    return finding.code, finding.path, finding.message


def _open_after(patch: Patch, files: Sequence[SourceFile], settings: Settings, scans: Cache) -> list[Finding]:
    """Return the open findings of the programs that read a file of the patch, with the patch written."""
    refused = write.land(Outcome(patch=patch)).problems
    if refused:
        raise UnstableError(f"{refused[0].path} {refused[0].message}")
    changed = {change.path for change in patch.files}
    try:
        present = [sources.read(file.path) if file.path in changed else file for file in files]
        checked = fixpoint.check(present, settings, cache=scans)
    except SourceError as error:
        raise UnstableError(f"{error.problem.path} {error.problem.message}") from error
    finally:
        for change in patch.files:
            Path(change.path).write_bytes(change.old)
    return [item.finding for item in checked.resolutions if item.status in _OPEN]


def _without(
    dropped: Sequence[Finding], outcome: Outcome, files: Sequence[SourceFile], settings: Settings, scans: Cache
) -> Outcome:
    """Repair again without some findings; problems of files that were not analysed remain."""
    again = fixpoint.apply(files, settings, without=dropped, cache=scans)
    problems = sorted({*again.problems, *outcome.problems}, key=lambda problem: (problem.path, problem.line))
    return replace(again, problems=tuple(problems))


def _with_reasons(outcome: Outcome, dropped: Sequence[Finding]) -> Outcome:
    left = set(map(_identity, dropped))

    def explained(item: Resolution) -> Resolution:
        is_dropped = item.status is Status.NOT_FIXED and _identity(item.finding) in left
        return replace(item, reason=_STILL_THERE) if is_dropped else item

    return replace(outcome, resolutions=tuple(map(explained, outcome.resolutions)))
