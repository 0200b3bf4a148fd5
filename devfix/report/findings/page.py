"""The report as one HTML file: nothing is loaded from elsewhere, light and dark, by keys alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from devfix import sources
from devfix.model import Event, FileChange, Outcome, Patch, Resolution, Severity
from devfix.report import terminal_diff
from devfix.report.findings.concise import location, problem_line
from devfix.report.findings.statistics import counts
from devfix.report.html import rendered
from devfix.report.suggestions import Suggestion, applied
from devfix.report.summary import Mode
from devfix.vcs import unified_diff
from devfix.vcs.hunks import Piece, lines_of

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["MOST_FINDINGS", "render"]

#: Findings that a page lists, the most severe; the others it counts.
MOST_FINDINGS = 2000

_FEW = 20  # findings that stand open
_HEADINGS = {
    Mode.CHECK: "Device bugs",
    Mode.PREVIEW: "Device bugs, and what would change",
    Mode.APPLY: "Device bugs that are left",
}


@dataclass(frozen=True)
class _Card:
    """What the page shows of a finding."""

    code: str
    name: str
    severity: str
    status: str
    where: str
    message: str
    events: tuple[tuple[Event, str], ...]  # with the place of each
    notes: tuple[str, ...]
    suggestion: str
    reason: str
    along: str
    diff: list[tuple[str, list[Piece]]]


def render(view: View) -> str:
    """The whole file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    items = view.worst_first()
    return rendered(
        "findings.html",
        script="findings.js",
        heading=_HEADINGS[view.report.mode],
        summary=view.report.summary(),
        rules=counts(view),
        severities=_severities(items),
        problems=_problems(view.report.outcome),
        findings=[_card(view, item) for item in items[:MOST_FINDINGS]],
        more=max(0, len(items) - MOST_FINDINGS),
        few=_FEW,
        **_proof(view),
    )


def _problems(outcome: Outcome) -> list[str]:
    return [problem_line(each, outcome) for each in (*outcome.problems, *outcome.notes)]


def _severities(items: list[Resolution]) -> list[tuple[str, int]]:
    found = Counter(item.finding.severity for item in items)
    return [(severity.value, found[severity]) for severity in Severity if found[severity]]


def _proof(view: View) -> dict[str, Any]:
    """What `_runs.html` needs; nothing where nothing was run."""
    if view.proof is None:
        return {"proof": None}
    from devfix.report.runs.chart import chart
    from devfix.report.runs.curves import curves
    from devfix.report.runs.verdict import cells, sentence

    rows = [(name, cells(view.proof, name)) for name in view.proof.rows]
    return {"proof": view.proof, "sentence": sentence(view.proof), "rows": rows, "chart": chart(curves(view.proof))}


def _card(view: View, item: Resolution) -> _Card:
    from devfix.engine.scan import identity

    finding, outcome = item.finding, view.report.outcome
    fix = item.fix or next(iter(finding.fixes), None)
    suggestion, other = view.suggestions.of(finding), view.suggestions.along.get(identity(finding))
    return _Card(
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        status=item.status.value,
        where=location(finding, outcome),
        message=finding.message,
        events=tuple((event, outcome.where(event.path, event.line)) for event in finding.events),
        notes=finding.notes,
        suggestion="" if fix is None else f"{fix.title} ({fix.applicability.value})",
        reason=item.reason or finding.reason,
        along="" if other is None else location(other, outcome),
        diff=[] if suggestion is None else lines_of(_diff(view, suggestion)),
    )


def _diff(view: View, suggestion: Suggestion) -> str:
    """What a fix alone changes."""
    patch = Patch(tuple(_changes(view, suggestion)))
    return (terminal_diff.readable(patch) or unified_diff.unified(patch)).decode("utf-8", "replace")


def _changes(view: View, suggestion: Suggestion) -> Iterator[FileChange]:
    for path in suggestion.paths:
        file = view.texts.file(path)
        if file is not None and file.cells is not None:  # replacements are those of the file, not of its program
            file = replace(file, text=sources.as_text(file.raw), cells=None)
        new = (
            None
            if file is None
            else applied(file.text, [each for each in suggestion.replacements if each.path == path])
        )
        if file is not None and new is not None:
            yield FileChange(path, file.raw, sources.encode(file, new))
