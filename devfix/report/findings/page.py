"""The report as one self-contained HTML file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from devfix import sources
from devfix.model import Event, FileChange, Finding, Outcome, Patch, Resolution, Severity
from devfix.report import terminal_diff
from devfix.report.diffs import DiffView, diff_view
from devfix.report.findings.concise import location, problem_line
from devfix.report.findings.statistics import counts
from devfix.report.head import Head, Total, counted
from devfix.report.html import render_page
from devfix.report.listing import Listings, Row, Step
from devfix.report.rules import help_uri
from devfix.report.suggestions import Suggestion, apply_replacements
from devfix.report.summary import Mode
from devfix.vcs import unified_diff

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["MAX_FINDINGS", "render"]

#: Maximum number of listed findings, the most severe; the others are only counted.
MAX_FINDINGS = 2000

_FEW = 20  # maximum number of findings that are unfolded
_MAX_FILES = 40  # files in the overview
_UNSAFE_IN_ID = re.compile(r"[^\w.:/-]+")
_HEADINGS = {
    Mode.CHECK: "Patch that devfix proposes",
    Mode.PREVIEW: "Patch",
    Mode.APPLY: "Changes",
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
    anchor: str
    link: str
    uri: str
    steps: list[tuple[Step, str]]  # with positions as text
    rows: list[Row]
    notes: tuple[str, ...]
    suggestion: str
    reason: str
    fixed_with: str
    diff: DiffView


@dataclass(frozen=True)
class _File:
    """A file with its findings, the most severe first."""

    name: str
    findings: list[_Card]

    @property
    def severities(self) -> list[tuple[str, int]]:
        found = Counter(card.severity for card in self.findings)
        return [(severity.value, found[severity.value]) for severity in Severity if found[severity.value]]


def render(view: View) -> str:
    """Return the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    items = view.by_severity()
    files = _files(view, items[:MAX_FINDINGS])
    return render_page(
        "findings.html",
        _head(view, items),
        styles=("listing.css", "findings.css", "chart.css"),
        scripts=("findings.js", "chart.js"),
        rules=[(rule, help_uri(rule.code)) for rule in counts(view)],
        severities=_severities(items),
        problems=_problems(view.report.outcome),
        files=files,
        max_files=_MAX_FILES,
        more_files=max(0, len(files) - _MAX_FILES),
        listed=min(len(items), MAX_FINDINGS),
        more=max(0, len(items) - MAX_FINDINGS),
        few=_FEW,
        name=view.name,
        links=view.about.checkout,
        patch=_patch(view),
        patch_heading=_HEADINGS[view.report.mode],
        **_proof(view),
    )


def _head(view: View, items: list[Resolution]) -> Head:
    report = view.report
    severities = dict(_severities(items))
    problems = len(report.outcome.problems)
    tone, label = ("good", "No findings") if not items else ("unsure", counted(len(items), "finding", "findings"))
    if Severity.ERROR.value in severities:
        tone = "bad"
    elif problems and not items:
        tone, label = "unsure", counted(problems, "problem", "problems")
    fixed = "fixed" if report.mode is Mode.APPLY else "would be fixed"
    tones = {"error": "bad", "latent": "unsure"}
    totals = [
        *(
            Total(_noun(name, number), f"{number:,}", "", tones.get(name, ""), "severity", name)
            for name, number in severities.items()
        ),
        *([Total(fixed, f"{len(_fixed(view)):,}", "", "good")] if _fixed(view) else []),
        Total("files checked" if report.outcome.checked != 1 else "file checked", f"{report.outcome.checked:,}"),
        *([Total("problems", f"{problems:,}", "", "unsure")] if problems else []),
    ]
    sentence = report.summary()
    if report.mode is Mode.CHECK and items:
        files = len({item.finding.path for item in items})
        fixes = len(_fixed(view))
        told = "the patch below fixes all of them" if fixes >= len(items) else f"the patch below fixes {fixes}"
        sentence = f"In {counted(files, 'file', 'files')}; {told if fixes else 'none has a safe fix'}."
    return Head(
        command="apply" if report.mode is not Mode.CHECK else "check",
        title=_subject(view),
        tone=tone,
        label=label,
        sentence=sentence,
        totals=tuple(totals),
        about=view.about,
    )


def _noun(severity: str, number: int) -> str:
    return "errors" if severity == Severity.ERROR.value and number != 1 else severity


def _fixed(view: View) -> tuple[Resolution, ...]:
    """Return the findings that the command, or the proposed patch, fixes."""
    from devfix.report.summary import Report

    return view.report.fixed or Report(view.preview, Mode.PREVIEW).fixed


def _subject(view: View) -> str:
    """Return what was checked: the paths, or the name of the folder."""
    paths = [os.path.basename(os.path.abspath(path)) if path == os.curdir else path for path in view.paths]
    return ", ".join(paths) or os.path.basename(view.root) or "files"


def _problems(outcome: Outcome) -> list[str]:
    return [problem_line(each, outcome) for each in (*outcome.problems, *outcome.notes)]


def _severities(items: list[Resolution]) -> list[tuple[str, int]]:
    found = Counter(item.finding.severity for item in items)
    return [(severity.value, found[severity]) for severity in Severity if found[severity]]


def _patch(view: View) -> DiffView:
    """Return the whole patch."""
    patch = view.report.outcome.patch if view.report.outcome.patch.files else view.preview.patch
    return _diff_view(patch)


def _diff_view(patch: Patch) -> DiffView:
    """Return a patch with readable cells of notebooks; its buttons give the bytes that ``git apply`` takes."""
    raw = unified_diff.unified(patch)
    return diff_view((terminal_diff.notebook_diff(patch) or raw).decode("utf-8", "surrogateescape"), raw)


def _proof(view: View) -> dict[str, Any]:
    """Return the variables of ``_runs.html``."""
    if view.proof is None:
        return {"proof": None}
    from devfix.report.runs.chart import chart
    from devfix.report.runs.curves import curves
    from devfix.report.runs.run_rows import run_rows
    from devfix.report.runs.verdict import sentence

    proof = view.proof
    return {"proof": proof, "sentence": sentence(proof), "rows": run_rows(proof), "chart": chart(curves(proof))}


def _files(view: View, items: list[Resolution]) -> list[_File]:
    """Return the files, that of the most severe finding first."""
    outcome = view.report.outcome

    def number(path: str, line: int) -> str:
        place = outcome.place(path, line)
        return str(line) if place is None else f"{place[0]}:{place[1]}"

    listings, anchors = Listings(view.texts, number), Counter[str]()
    cards: dict[str, list[_Card]] = {}
    for item in items:
        anchor = _anchor(view, item.finding)
        anchors[anchor] += 1
        unique = f"{anchor}:{anchors[anchor]}" if anchors[anchor] > 1 else anchor
        cards.setdefault(item.finding.path, []).append(_card(view, item, unique, listings))
    return [_File(view.name(path), found) for path, found in cards.items()]


def _anchor(view: View, finding: Finding) -> str:
    return _UNSAFE_IN_ID.sub("-", f"{finding.code}:{view.name(finding.path)}:{finding.span.line}")


def _card(view: View, item: Resolution, anchor: str, listings: Listings) -> _Card:
    from devfix.engine.scan import identity

    finding, outcome = item.finding, view.report.outcome
    fix = item.fix or next(iter(finding.fixes), None)
    suggestion, other = view.suggestions.of(finding), view.suggestions.fixed_with.get(identity(finding))
    steps = [_step(finding, event) for event in finding.events]
    return _Card(
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        status=item.status.value,
        where=location(finding, outcome),
        message=finding.message,
        anchor=anchor,
        link=view.about.checkout.link(view.name(finding.path), outcome.line_in_file(finding.path, finding.span.line)),
        uri=help_uri(finding.code),
        steps=list(_places(steps, outcome)),
        rows=listings.rows(steps),
        notes=finding.notes,
        suggestion="" if fix is None else f"{fix.title} ({fix.applicability.value})",
        reason=item.reason or finding.reason,
        fixed_with="" if other is None else location(other, outcome),
        diff=diff_view("") if suggestion is None else _diff_view(Patch(tuple(_changes(view, suggestion)))),
    )


def _places(steps: list[Step], outcome: Outcome) -> Iterator[tuple[Step, str]]:
    """Yield the steps with their positions; the path is only named where it changes."""
    path = ""
    for step in steps:
        place = outcome.where(step.path, step.line)
        yield step, place.removeprefix(f"{path}:") if path else place
        path = step.path


def _step(finding: Finding, event: Event) -> Step:
    """Return an event as a step; its tone says what it means for the finding."""
    if event.kind == "used":
        tone = "failure"
    elif event.kind in ("called", "calls"):
        tone = "call"
    else:
        tone = "origin" if event is finding.events[0] else "move"
    if event is finding.failure:
        tone = "failure"
    return Step(event.kind, tone, event.path, event.line, event.column, event.end_column, event.source, event.note)


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
