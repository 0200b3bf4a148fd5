"""The static findings for the error in a log, as text and as JSON; ``schema/log-1.json`` documents the JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.report.agent.next_command import shell_line
from devfix.report.runs.trace import diff_text
from devfix.report.runs.verdict import console
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from devfix.trace.failure_trace import Position
    from devfix.trace.log.ranking import LogTrace, RankedCause

__all__ = ["SCHEMA_VERSION", "apply_words", "document", "dumps", "show"]

SCHEMA_VERSION = 1
_MAX_FRAMES = 4


def show(found: LogTrace, to: Console | None = None) -> None:
    """Print the error and its ranked causes."""
    to = to or console()
    for line in _lines(found):
        to.print(line, soft_wrap=True)


def _lines(found: LogTrace) -> Iterator[Text]:
    from rich.text import Text

    error = found.error
    process = f" ({error.process})" if error.process else ""
    yield Text(printable(f"{error.type or 'error'}{process}: {error.message}"), style="bold red")
    for number, (position, line) in enumerate(found.frames[:_MAX_FRAMES]):
        remark = f"  (line {line} in the log)" if line and line != position.line else ""
        yield Text.assemble(
            "  at " if number == 0 else "  by ", (str(position), "bold"), f"  {printable(position.code)}{remark}"
        )
    yield Text()
    for number, cause in enumerate(found.causes, 1):
        yield from _cause(found, cause, number)
    if not found.causes:
        yield from _meaning(found)
    yield Text(f"About this message: devfix explain {found.family.page}", style="dim")
    if found.causes and found.causes[0].changes:
        yield Text(f"To apply the edit: {shell_line(apply_words(found, found.causes[0]))}", style="dim")
    if found.project is not None:
        script = found.project.shown(found.project.script)
        yield Text(f"To trace a run: devfix trace {printable(script)}", style="dim")


def apply_words(found: LogTrace, cause: RankedCause) -> list[str]:
    """Return the command of devfix that applies the fix of a cause: it names the files that showed the cause."""
    from devfix.model import Applicability, Severity

    project, finding = found.project, cause.finding
    assert project is not None
    analysed = (project.script, *cause.changes, *(position.file for position, _ in found.frames))
    paths = dict.fromkeys(map(project.shown, analysed))
    words = ["apply", *paths, "--select", finding.code]
    words += ["--severity", finding.severity.value] if finding.severity is not Severity.ERROR else []
    words += ["--unsafe-fixes"] if finding.fixes[0].applicability is Applicability.UNSAFE else []
    return words


def _meaning(found: LogTrace) -> Iterator[Text]:
    from rich.text import Text

    yield Text(f"The message means: {found.family.meaning}.")
    if found.project is not None:
        yield Text("Static analysis finds no cause on these lines.")
    else:
        yield Text("No line of this error is in the current folder: run devfix in the folder of the program.")
    yield Text("Usual causes:")
    for cause in found.family.causes:
        yield Text(f"  - {cause}")


def _cause(found: LogTrace, cause: RankedCause, number: int) -> Iterator[Text]:
    from rich.text import Text

    finding = cause.finding
    yield Text.assemble(
        (f"{number}. ", "bold"),
        (printable(str(found.position_of(finding))), "bold"),
        f" {finding.severity.value} {finding.code} {finding.name}: {printable(finding.message)}",
    )
    for reason in cause.reasons:
        yield Text(f"   because {printable(reason)}")
    if finding.fixes:
        yield Text.assemble("   ", ("edit", "green"), f": {printable(finding.fixes[0].title)}")
    else:
        yield Text(f"   no edit: {printable(finding.reason or 'no fix is known')}")
    if found.project is not None:
        yield from diff_text(found.project, cause.changes)


def dumps(found: LogTrace) -> str:
    """Return the document as ASCII text with an indentation of two spaces and a final newline."""
    return json.dumps(document(found), indent=2) + "\n"


def document(found: LogTrace) -> dict[str, Any]:
    """Return the result as JSON values."""
    error = found.error
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "script": found.project.script if found.project is not None else None,
        "project": str(found.project.root) if found.project is not None else None,
        "error": {
            "type": error.type,
            "message": error.message,
            "family": error.family,
            "meaning": found.family.meaning,
            "causes": list(found.family.causes),
            "page": found.family.page,
            "process": error.process or None,
            "frames": [
                {"path": position.file, **_line(position), "line_in_log": line or None, "source": position.code}
                for position, line in found.frames
            ],
        },
        "causes": [_document(found, cause) for cause in found.causes],
    }


def _line(position: Position) -> dict[str, int]:
    """Return the line; in a notebook, the cell and the line in it."""
    return {"line": position.line} if position.cell is None else {"cell": position.cell[0], "line": position.cell[1]}


def _document(found: LogTrace, cause: RankedCause) -> dict[str, Any]:
    from devfix.trace.repair.proposal import diff_lines

    finding = cause.finding
    return {
        "rule": finding.code,
        "severity": finding.severity.value,
        "path": finding.path,
        **_line(found.position_of(finding)),
        "message": finding.message,
        "score": cause.score,
        "reasons": list(cause.reasons),
        "edit": finding.fixes[0].title if finding.fixes else None,
        "diff": "".join(f"{line}\n" for line in diff_lines(found.project, cause.changes)) if found.project else "",
    }
