"""The text report: each finding with its path of source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from devfix.model import Applicability, Resolution, Severity, Status
from devfix.report.findings.concise import location, problem_line
from devfix.report.findings.event_rows import event_rows, linked, wrapped
from devfix.report.positions import SourceTexts
from devfix.report.rules import help_uri
from devfix.report.sanitize import PREFIX, printable
from devfix.report.summary import Mode, Report

__all__ = ["show"]

# Named colours of the terminal's own theme that are readable on dark and on light backgrounds.
_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.LATENT: "bold magenta", Severity.ADVICE: "bold cyan"}
_APPLICABILITY_MARKS = {
    Applicability.SAFE: ("safe fix", "green"),
    Applicability.UNSAFE: ("unsafe fix", "magenta"),
    None: ("", ""),
}


def show(
    report: Report,
    verbosity: int,
    console: Console,
    texts: SourceTexts | None = None,
    statistics: Sequence[str] | None = None,
    problems: Console | None = None,
) -> None:
    """Print findings, problems, notes, and the summary.

    Args:
        report: the report.
        verbosity: below 0, fixed findings, notes and the summary are omitted; above 0, suppressed findings are printed,
            and findings that were fixed on disk are printed in full.
        console: the console to print to.
        texts: the source files, to mark expressions in their lines.
        statistics: lines to print instead of the findings.
        problems: the console for problems and notes; the same one by default.

    """
    for row in statistics or ():
        console.print(Text(row))
    width = console.width if console.is_terminal else None
    for resolution in report.outcome.resolutions if statistics is None else ():
        if resolution.status is Status.SUPPRESSED and verbosity < 1:
            continue
        if resolution.status is Status.FIXED and verbosity < 0:
            continue
        is_brief = resolution.status is Status.FIXED and report.mode is Mode.APPLY and verbosity < 1
        for line in _finding(resolution, report, is_brief, texts, width):
            console.print(line)
    console.file.flush()
    aside = problems or console
    for problem in report.outcome.problems:
        aside.print(Text.assemble((PREFIX, "bold red"), problem_line(problem, report.outcome)))
    if verbosity >= 0:
        for note in report.outcome.notes:
            aside.print(Text.assemble((PREFIX, "cyan"), "note: ", problem_line(note, report.outcome)))
    aside.file.flush()
    if verbosity >= 0:
        for part in wrapped(report.summary(), width, ""):
            console.print(Text(part, style="bold"))


def _finding(
    resolution: Resolution, report: Report, is_brief: bool, texts: SourceTexts | None, width: int | None
) -> Iterator[Text]:
    finding = resolution.finding
    mark, mark_style = _mark(resolution)
    yield Text.assemble(
        (location(finding, report.outcome), Style(bold=True) + linked(finding.path)),
        " ",
        (finding.severity.value, _SEVERITY_STYLES[finding.severity]),
        " ",
        (finding.code, Style(bold=True, link=None if width is None else help_uri(finding.code))),
        f" {finding.name}",
        (f" {mark}" if mark else "", mark_style),
    )
    if not is_brief:
        for line in wrapped(printable(finding.message), width, "  "):
            yield Text(line)
        yield from event_rows(finding, report.outcome, texts, width)
        for note in finding.notes:
            for line in wrapped("note: " + printable(note), width, "  "):
                yield Text(line)
    yield from _resolution(resolution, report.mode, width)
    if not is_brief:
        yield Text()


def _mark(resolution: Resolution) -> tuple[str, str]:
    """Return the mark of a finding and its style: only a fix that was tried is called safe."""
    if resolution.status is Status.NOT_FIXED:
        return "", ""
    words, style = _APPLICABILITY_MARKS[resolution.finding.applicability]
    if resolution.status is Status.FIXABLE:
        words = {"safe fix": "possible fix", "unsafe fix": "possible unsafe fix"}.get(words, "")
    return (f"[{words}]" if words else ""), style


def _resolution(resolution: Resolution, mode: Mode, width: int | None) -> Iterator[Text]:
    if resolution.status is Status.SUPPRESSED:
        yield Text("  suppressed by a comment", style="dim")
        return
    label, style, told = _told(resolution, mode)
    first = True
    for line in wrapped(f"{label}: {told}", width, "  "):
        text = Text(line)
        if first:
            text.stylize(style, 2, 2 + len(label))
        yield text
        first = False


def _told(resolution: Resolution, mode: Mode) -> tuple[str, str, str]:
    """Return what becomes of a finding: a label, its style, and the fix or the reason."""
    finding = resolution.finding
    fix = resolution.fix or (finding.fixes[0] if finding.fixes else None)
    title = printable(fix.title) if fix else ""
    reason = printable(resolution.reason or finding.reason)
    if resolution.status is Status.FIXED:
        return "fixed" if mode is Mode.APPLY else "would fix", "green", title
    if resolution.status is Status.FIXABLE:
        unsafe = fix is not None and fix.applicability is Applicability.UNSAFE
        option = "devfix apply --unsafe-fixes" if mode is Mode.CHECK else "--unsafe-fixes"
        tail = reason or (f"needs {option}" if unsafe else "")
        return "possible fix", "green", title + (f" ({tail})" if tail else "")
    return "not fixed", "magenta", reason or "no fix is known"
