"""Writing a patch to disk, and updating the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from devfix import sources
from devfix.model import FileChange, Outcome, Problem, Resolution, Status

__all__ = ["land"]


def land(outcome: Outcome, *, whole: bool = False) -> Outcome:
    """Write the files of ``outcome.patch``.

    A file that cannot be written becomes a problem and leaves the patch, and its findings are not fixed.

    Args:
        outcome: the patch and the findings.
        whole: write all files or none, because a part of a proved patch is not proved.
    """
    refused = _write_all(outcome.patch.files) if whole else _write_each(outcome.patch.files)
    if not refused:
        return outcome
    written = tuple(change for change in outcome.patch.files if change.path not in refused)
    problems = {*outcome.problems, *refused.values()}
    return replace(
        outcome,
        resolutions=tuple(_after(resolution, refused) for resolution in outcome.resolutions),
        patch=replace(outcome.patch, files=written),
        problems=tuple(sorted(problems, key=lambda item: (item.path, item.line, item.message))),
    )


def _write_each(changes: Sequence[FileChange]) -> dict[str, Problem]:
    """Write each file; return the problems of the ones that could not be written."""
    refused = {}
    for change in changes:
        try:
            sources.write(change)
        except sources.SourceError as error:
            refused[change.path] = error.problem
    return refused


def _write_all(changes: Sequence[FileChange]) -> dict[str, Problem]:
    """Write all files or none; return the problem of the one that could not be written, for each file."""
    done: list[FileChange] = []
    try:
        for change in changes:
            sources.write(change)
            done.append(change)
    except BaseException as error:  # also on Ctrl-C all files are restored
        for change in done:
            sources.write(FileChange(change.path, change.new, change.old))
        if not isinstance(error, sources.SourceError):
            raise
        return {change.path: error.problem for change in changes}
    return {}


def _after(resolution: Resolution, refused: dict[str, Problem]) -> Resolution:
    if resolution.status is not Status.FIXED:
        return resolution
    paths = resolution.fix.paths if resolution.fix else (resolution.finding.path,)
    for path in paths:
        if path in refused:
            problem = refused[path]
            return replace(resolution, status=Status.NOT_FIXED, reason=f"{problem.path} {problem.message}")
    return resolution
