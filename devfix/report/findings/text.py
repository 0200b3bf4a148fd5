"""The text report on standard error: each finding with its path of source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from devfix.model import Applicability, Event, Finding, Outcome, Resolution, Severity, Status
from devfix.report.findings.concise import location, problem_line
from devfix.report.sanitize import printable
from devfix.report.summary import Mode, Report

__all__ = ["show"]

_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.LATENT: "yellow", Severity.ADVICE: "cyan"}
_APPLICABILITY_MARKS = {
    Applicability.SAFE: ("safe fix", "green"),
    Applicability.UNSAFE: ("unsafe fix", "yellow"),
    None: ("", ""),
}
_MAX_SOURCE_WIDTH = 72


def show(
    report: Report, verbosity: int = 0, console: Console | None = None, statistics: Sequence[str] | None = None
) -> None:
    """Print findings, problems, notes, and the summary.

    Args:
        report: the report.
        verbosity: below 0, fixed findings, notes and the summary are omitted; above 0, suppressed findings are printed,
            and findings that were fixed on disk are printed in full.
        console: the console to print to; standard error by default.
        statistics: lines to print instead of the findings.

    """
    console = console or Console(stderr=True, highlight=False, soft_wrap=True)
    for row in statistics or ():
        console.print(Text(row))
    for resolution in report.outcome.resolutions if statistics is None else ():
        if resolution.status is Status.SUPPRESSED and verbosity < 1:
            continue
        if resolution.status is Status.FIXED and verbosity < 0:
            continue
        is_brief = resolution.status is Status.FIXED and report.mode is Mode.APPLY and verbosity < 1
        for line in _finding(resolution, report, is_brief):
            console.print(line)
    for problem in report.outcome.problems:
        console.print(Text.assemble(("problem ", "bold red"), problem_line(problem, report.outcome)))
    if verbosity >= 0:
        for note in report.outcome.notes:
            console.print(Text.assemble(("note ", "cyan"), problem_line(note, report.outcome)))
    if verbosity >= 0:
        console.print(Text(report.summary(), style="bold"))


def _finding(resolution: Resolution, report: Report, is_brief: bool) -> Iterator[Text]:
    finding = resolution.finding
    mark, mark_style = _mark(resolution)
    yield Text.assemble(
        (location(finding, report.outcome), "bold"),
        " ",
        (finding.severity.value, _SEVERITY_STYLES[finding.severity]),
        " ",
        (finding.code, "bold"),
        f" {finding.name}",
        (f" {mark}" if mark else "", mark_style),
    )
    if not is_brief:
        yield Text("  " + printable(finding.message))
        yield from _event_path(finding, report.outcome)
        for note in finding.notes:
            yield Text("  note: " + printable(note))
    yield from _resolution(resolution, report.mode)
    if not is_brief:
        yield Text()


def _mark(resolution: Resolution) -> tuple[str, str]:
    """Return the mark of a finding and its style: only a fix that was tried is called safe."""
    if resolution.status is Status.NOT_FIXED and resolution.fix is None:
        return "", ""
    words, style = _APPLICABILITY_MARKS[resolution.finding.applicability]
    if resolution.status is Status.FIXABLE:
        words = {"safe fix": "possible fix", "unsafe fix": "possible unsafe fix"}.get(words, "")
    return (f"[{words}]" if words else ""), style


def _event_path(finding: Finding, outcome: Outcome) -> Iterator[Text]:
    """Yield the events as numbered source lines with notes; a change of file gets a heading."""
    number_width = max((len(_number(event, outcome)) for event in finding.events), default=0)
    source_width = max((len(_source(event)) for event in finding.events), default=0)
    path = finding.path
    for event in finding.events:
        if event.path != path:
            path = event.path
            yield Text.assemble("  ", ("-" * number_width + "> ", "blue"), printable(path))
        yield Text.assemble(
            "  ",
            (f"{_number(event, outcome):>{number_width}} | ", "blue"),
            f"{_source(event):<{source_width}}",
            (f"  {printable(event.note)}" if event.note else "", "italic"),
        )


def _number(event: Event, outcome: Outcome) -> str:
    """Return the line number of an event, with its cell in a notebook."""
    cell_line = outcome.place(event.path, event.line)
    return str(event.line) if cell_line is None else f"cell {cell_line[0]}:{cell_line[1]}"


def _source(event: Event) -> str:
    source = printable(event.source.replace("\t", " "))
    return source if len(source) <= _MAX_SOURCE_WIDTH else source[: _MAX_SOURCE_WIDTH - 1] + "…"


def _resolution(resolution: Resolution, mode: Mode) -> Iterable[Text]:
    finding = resolution.finding
    fix = resolution.fix or (finding.fixes[0] if finding.fixes else None)
    title = printable(fix.title) if fix else ""
    reason = printable(resolution.reason or finding.reason)
    if resolution.status is Status.FIXED:
        return [Text.assemble("  ", ("fixed" if mode is Mode.APPLY else "would fix", "green"), f": {title}")]
    if resolution.status is Status.SUPPRESSED:
        return [Text("  suppressed by a comment", style="dim")]
    if resolution.status is Status.FIXABLE:
        unsafe = fix is not None and fix.applicability is Applicability.UNSAFE
        tail = reason or ("needs --unsafe-fixes" if unsafe else "")
        return [Text.assemble("  ", ("possible fix", "green"), f": {title}" + (f" ({tail})" if tail else ""))]
    return [Text.assemble("  ", ("not fixed", "yellow"), f": {reason or 'no fix is known'}")]
