"""The report as one self-contained HTML file."""

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
from devfix.report.head import Head
from devfix.report.html import render_page
from devfix.report.suggestions import Suggestion, apply_replacements
from devfix.report.summary import Mode
from devfix.vcs import unified_diff
from devfix.vcs.hunks import Piece, highlighted_lines

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["MAX_FINDINGS", "render"]

#: Maximum number of listed findings, the most severe; the others are only counted.
MAX_FINDINGS = 2000

_FEW = 20  # maximum number of findings that are unfolded
_HEADINGS = {
    Mode.CHECK: "Device bugs",
    Mode.PREVIEW: "Device bugs and proposed changes",
    Mode.APPLY: "Remaining device bugs",
}


@dataclass(frozen=True)
class _Card:
    """A finding on the page."""

    code: str
    name: str
    severity: str
    status: str
    where: str
    message: str
    events: tuple[tuple[Event, str], ...]  # with positions as text
    notes: tuple[str, ...]
    suggestion: str
    reason: str
    fixed_with: str
    diff: list[tuple[str, list[Piece]]]


def render(view: View) -> str:
    """Return the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    items = view.by_severity()
    return render_page(
        "findings.html",
        Head("check", "x", "bad", "findings", view.report.summary()),
        styles=("findings.css",),
        scripts=("findings.js",),
        summary=view.report.summary(),
        rules=counts(view),
        severities=_severities(items),
        problems=_problems(view.report.outcome),
        findings=[_card(view, item) for item in items[:MAX_FINDINGS]],
        more=max(0, len(items) - MAX_FINDINGS),
        few=_FEW,
        **_proof(view),
    )


def _problems(outcome: Outcome) -> list[str]:
    return [problem_line(each, outcome) for each in (*outcome.problems, *outcome.notes)]


def _severities(items: list[Resolution]) -> list[tuple[str, int]]:
    found = Counter(item.finding.severity for item in items)
    return [(severity.value, found[severity]) for severity in Severity if found[severity]]


def _proof(view: View) -> dict[str, Any]:
    """Return the variables of ``_runs.html``."""
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
    suggestion, other = view.suggestions.of(finding), view.suggestions.fixed_with.get(identity(finding))
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
        fixed_with="" if other is None else location(other, outcome),
        diff=[] if suggestion is None else highlighted_lines(_diff(view, suggestion)),
    )


def _diff(view: View, suggestion: Suggestion) -> str:
    """Return the diff of one suggestion."""
    patch = Patch(tuple(_changes(view, suggestion)))
    return (terminal_diff.notebook_diff(patch) or unified_diff.unified(patch)).decode("utf-8", "replace")


def _changes(view: View, suggestion: Suggestion) -> Iterator[FileChange]:
    for path in suggestion.paths:
        file = view.texts.file(path)
        if file is not None and file.cells is not None:  # replacements have positions in the JSON file
            file = replace(file, text=sources.as_text(file.raw), cells=None)
        new = (
            None
            if file is None
            else apply_replacements(file.text, [each for each in suggestion.replacements if each.path == path])
        )
        if file is not None and new is not None:
            yield FileChange(path, file.raw, sources.encode(file, new))
