"""The static findings for the error in a log, for coding agents; :mod:`devfix.report.agent` documents the lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.model import Applicability
from devfix.report.agent.lines import cut, hunk_lines, last_line, limited, text_of
from devfix.report.agent.next_command import shell_line
from devfix.report.runs.log import apply_words

if TYPE_CHECKING:
    from devfix.trace.log.ranking import LogTrace, RankedCause

__all__ = ["dumps"]

_MOST_FRAMES, _MOST_CAUSES, _MOST_REASONS = 3, 3, 2
_PROOF = "to write only a verified edit, add: --verify -- ARGS"


def dumps(found: LogTrace) -> str:
    """Return the lines, each with a newline."""
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: LogTrace) -> Iterator[str]:
    error = found.error
    process = f" ({error.process})" if error.process else ""
    yield f"{cut(error.type or 'error')}{process}: {cut(error.message)}"
    frames = [f"at {position}: {cut(position.code)}" for position, _ in found.frames]
    yield from limited(frames, _MOST_FRAMES, "frames; all: --output-format json")
    heads = [_head(found, cause) for cause in found.causes]
    yield from heads[:1]
    first = found.causes[0] if found.causes else None
    project = found.project
    if project is not None and first is not None and first.changes:
        texts = [
            (path, text_of(path, (project.root / path).read_bytes()), text_of(path, new))
            for path, new in sorted(first.changes.items())
        ]
        yield from hunk_lines(texts, f"{shell_line(apply_words(found, first))} --diff")
    yield from limited(heads[1:], _MOST_CAUSES - 1, "less likely causes; all: --output-format json")
    if first is None:
        yield f"means: {cut(found.family.meaning)}"
        causes = [f"usual cause: {cut(cause)}" for cause in found.family.causes]
        yield from limited(causes, _MOST_REASONS, f"usual causes; all: devfix explain {found.family.page}")
    yield _last(found, first)


def _head(found: LogTrace, cause: RankedCause) -> str:
    finding = cause.finding
    where = cut(str(found.position_of(finding)))
    told = f"{where}: {finding.code} {finding.severity.value}: {cut(finding.message)}"
    if not finding.fixes:
        return f"{told}; no fix: {cut(finding.reason or 'none is known')}"
    unsafe = " (unsafe)" if finding.applicability is Applicability.UNSAFE else ""
    return f"{told}; fix{unsafe}: {cut(finding.fixes[0].title)}"


def _last(found: LogTrace, first: RankedCause | None) -> str:
    number = len(found.causes)
    told = f"1 device error ({found.family.name}), {number or 'no'} {'cause' if number == 1 else 'causes'} found"
    if found.project is None:
        where = "no line of the error is in this folder: run this in the folder of the program"
        return last_line(f"{told}, {where}", shell_line(["explain", found.family.page]))
    if first is not None and first.changes:
        return last_line(told, shell_line(apply_words(found, first)), _PROOF)
    script = found.project.shown(found.project.script)
    return last_line(
        told, shell_line(["apply", "--trace", script, "--", "ARGS"]), "runs the script, and writes only a verified edit"
    )
