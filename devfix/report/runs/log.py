"""What reading says of the error in a log: for a person, and as JSON (schema/log-1.json documents it)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.report.runs.trace import diff_text
from devfix.report.runs.verdict import console
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from devfix.trace.log.ranking import LogTrace, RankedCause
    from devfix.trace.story import Position

__all__ = ["SCHEMA_VERSION", "document", "dumps", "show"]

SCHEMA_VERSION = 1
_MOST_FRAMES = 4


def show(found: LogTrace, to: Console | None = None) -> None:
    """Print it."""
    to = to or console()
    for line in _lines(found):
        to.print(line, soft_wrap=True)


def _lines(found: LogTrace) -> Iterator[Text]:
    from rich.text import Text

    error = found.error
    process = f" ({error.process})" if error.process else ""
    yield Text(printable(f"{error.type or 'error'}{process}: {error.message}"), style="bold red")
    for number, (place, line) in enumerate(found.frames[:_MOST_FRAMES]):
        told = f"  (line {line} in the log)" if line and line != place.line else ""
        yield Text.assemble(
            "  at " if number == 0 else "  by ", (str(place), "bold"), f"  {printable(place.code)}{told}"
        )
    yield Text()
    for number, cause in enumerate(found.causes, 1):
        yield from _cause(found, cause, number)
    if not found.causes:
        yield Text(f"The message means: {found.meaning}.")
        yield Text("Reading finds no cause on these lines.")
    yield Text(f"What a run shows, and reading cannot: devfix trace {printable(_script(found))}", style="dim")


def _script(found: LogTrace) -> str:
    return found.project.shown(found.project.script)


def _cause(found: LogTrace, cause: RankedCause, number: int) -> Iterator[Text]:
    from rich.text import Text

    finding = cause.finding
    yield Text.assemble(
        (f"{number}. ", "bold"),
        (printable(str(found.place(finding))), "bold"),
        f" {finding.severity.value} {finding.code} {finding.name}: {printable(finding.message)}",
    )
    for reason in cause.reasons:
        yield Text(f"   because {printable(reason)}")
    if finding.fixes:
        yield Text.assemble("   ", ("edit", "green"), f": {printable(finding.fixes[0].title)}")
    else:
        yield Text(f"   no edit: {printable(finding.reason or 'no fix is known')}")
    yield from diff_text(found.project, cause.changes)


def dumps(found: LogTrace) -> str:
    """The document as ASCII text, two spaces deep, with a newline at the end."""
    return json.dumps(document(found), indent=2) + "\n"


def document(found: LogTrace) -> dict[str, Any]:
    """What was found as dicts, lists, strings and numbers."""
    error = found.error
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "script": found.project.script,
        "project": str(found.project.root),
        "error": {
            "type": error.type,
            "message": error.message,
            "family": error.family,
            "meaning": found.meaning,
            "process": error.process or None,
            "frames": [
                {"path": place.file, **_line(place), "line_in_log": line or None, "source": place.code}
                for place, line in found.frames
            ],
        },
        "causes": [_document(found, cause) for cause in found.causes],
    }


def _line(place: Position) -> dict[str, int]:
    """The line; in a notebook the cell and the line in it."""
    return {"line": place.line} if place.place is None else {"cell": place.place[0], "line": place.place[1]}


def _document(found: LogTrace, cause: RankedCause) -> dict[str, Any]:
    from devfix.trace.repair.proposal import diff_lines

    finding = cause.finding
    return {
        "rule": finding.code,
        "severity": finding.severity.value,
        "path": finding.path,
        **_line(found.place(finding)),
        "message": finding.message,
        "score": cause.score,
        "reasons": list(cause.reasons),
        "edit": finding.fixes[0].title if finding.fixes else None,
        "diff": "".join(f"{line}\n" for line in diff_lines(found.project, cause.changes)),
    }
