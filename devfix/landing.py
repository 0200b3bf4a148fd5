"""A patch lands on the disk, and the findings say what became of it."""

from __future__ import annotations

from dataclasses import replace

from devfix import sources
from devfix.model import Outcome, Problem, Resolution, Status

__all__ = ["land"]


def land(outcome: Outcome) -> Outcome:
    """Write every file of ``outcome.patch``.

    A file that cannot be written becomes a problem, leaves the patch, and its findings are not fixed.
    """
    refused: dict[str, Problem] = {}
    for change in outcome.patch.files:
        try:
            sources.write(change)
        except sources.SourceError as error:
            refused[change.path] = error.problem
    if not refused:
        return outcome
    written = tuple(change for change in outcome.patch.files if change.path not in refused)
    return replace(
        outcome,
        resolutions=tuple(_after(resolution, refused) for resolution in outcome.resolutions),
        patch=replace(outcome.patch, files=written),
        problems=tuple(sorted((*outcome.problems, *refused.values()), key=lambda item: (item.path, item.line))),
    )


def _after(resolution: Resolution, refused: dict[str, Problem]) -> Resolution:
    if resolution.status is not Status.FIXED:
        return resolution
    paths = resolution.remedy.paths if resolution.remedy else (resolution.finding.path,)
    for path in paths:
        if path in refused:
            return replace(resolution, status=Status.NOT_FIXED, reason=f"{path} {refused[path].message}")
    return resolution
