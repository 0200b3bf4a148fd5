"""One line for each finding and problem: ``path:line:col: CODE [*] message``; in a notebook ``path:cell 3:line:col:``.

``[*]`` marks a finding with a safe fix, ``[!]`` one with an unsafe fix.  Columns count from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.model import Applicability, Finding, Outcome, Problem, Status
from devfix.report.sanitize import printable
from devfix.report.summary import Report

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["finding_line", "lines", "location", "mark", "problem_line", "render"]

_NO_NOTEBOOKS = Outcome()
_MARKS = {Applicability.SAFE: "[*] ", Applicability.UNSAFE: "[!] ", None: ""}


def render(view: View) -> str:
    """Return the lines of a report, each with a newline."""
    return "".join(f"{line}\n" for line in lines(view.report))


def lines(report: Report) -> Iterator[str]:
    """Yield the listed findings, then problems, then notes, one line each, without newlines."""
    for resolution in report.listed:
        offered = None if resolution.status is Status.NOT_FIXED else resolution.finding.applicability
        yield finding_line(resolution.finding, report.outcome, offered)
    for problem in (*report.outcome.problems, *report.outcome.notes):
        yield problem_line(problem, report.outcome)


def finding_line(finding: Finding, outcome: Outcome, offered: Applicability | None) -> str:
    """Return a finding as ``path:line:col: CODE [*] message``, with the mark of the fix that is offered."""
    return f"{location(finding, outcome)}: {finding.code} {mark(offered)}{printable(finding.message)}"


def problem_line(problem: Problem, outcome: Outcome = _NO_NOTEBOOKS) -> str:
    """Return a problem as ``path:line: message; hint``."""
    where = printable(outcome.where(problem.path, problem.line))
    return f"{where}: {printable(problem.message)}" + (f"; {printable(problem.hint)}" if problem.hint else "")


def location(finding: Finding, outcome: Outcome = _NO_NOTEBOOKS) -> str:
    """Return the position of a finding: path, cell if the file is a notebook, line and column."""
    return f"{printable(outcome.where(finding.path, finding.span.line))}:{finding.span.column + 1}"


def mark(applicability: Applicability | None) -> str:
    """Return the mark of a finding whose best fix has this applicability, with a space after it."""
    return _MARKS[applicability]
