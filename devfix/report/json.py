"""The report for programs: schema/report-1.json documents it.

Lines and columns count from 1; columns are code points, the end is exclusive.  In a notebook lines count in the cell.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.model import Event, Outcome, Problem, Resolution, Span
from devfix.report._report import Report

if TYPE_CHECKING:
    from devfix.report._view import View
    from devfix.report.verdict import Proof

__all__ = ["SCHEMA_VERSION", "document", "dumps", "finding_document", "problem_document", "render"]

SCHEMA_VERSION = 1


def render(view: View) -> str:
    """The document as ASCII text, two spaces deep, with a newline at the end."""
    return dumps(view.report, view.proof)


def dumps(report: Report, proof: Proof | None = None) -> str:
    """The document of a report, and of what runs prove, as text."""
    return json.dumps(document(report, proof), indent=2) + "\n"


def document(report: Report, proof: Proof | None = None) -> dict[str, Any]:
    """The report as dicts, lists, strings, and numbers."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "mode": report.mode.value,
        "exit_code": report.exit_code,
        "summary": {
            "checked_files": report.outcome.checked,
            "changed_files": len(report.outcome.patch.files),
            "fixed": len(report.fixed),
            "remaining": len(report.remaining),
            "suppressed": len(report.suppressed),
            "problems": len(report.outcome.problems),
        },
        "findings": [finding_document(resolution, report.outcome) for resolution in report.outcome.resolutions],
        "changes": [{"path": _path(change.path)} for change in report.outcome.patch.files],
        "problems": [problem_document(problem, report.outcome) for problem in report.outcome.problems],
        "notes": [problem_document(note, report.outcome) for note in report.outcome.notes],
        "verdict": None if proof is None else _verdict(proof),
    }


def _verdict(proof: Proof) -> dict[str, Any]:
    verdict = proof.verdict
    return {"word": verdict.word, "reason": verdict.reason, "good": verdict.good, "where": proof.where}


def finding_document(resolution: Resolution, outcome: Outcome) -> dict[str, Any]:
    """One finding and what became of it; ``outcome`` knows the cells of notebooks."""
    finding = resolution.finding
    remedy = resolution.remedy or (finding.remedies[0] if finding.remedies else None)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "status": resolution.status.value,
        "message": finding.message,
        "path": _path(finding.path),
        **_cell(finding.path, finding.span.line, outcome),
        "span": _span(finding.path, finding.span, outcome),
        "events": [_event(event, outcome) for event in finding.events],
        "remedy": remedy
        and {"title": remedy.title, "safety": remedy.safety.value, "files": [_path(path) for path in remedy.paths]},
        "reason": resolution.reason or finding.reason or None,
        "notes": list(finding.notes),
    }


def _cell(path: str, line: int, outcome: Outcome) -> dict[str, int]:
    place = outcome.place(path, line)
    return {} if place is None else {"cell": place[0]}


def _line(path: str, line: int, outcome: Outcome) -> int:
    place = outcome.place(path, line)
    return line if place is None else place[1]


def _span(path: str, span: Span, outcome: Outcome) -> dict[str, int]:
    line = _line(path, span.line, outcome)
    return {
        "line": line,
        "column": span.column + 1,
        "end_line": line + span.end_line - span.line,
        "end_column": span.end_column + 1,
    }


def _event(event: Event, outcome: Outcome) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "path": _path(event.path),
        **_cell(event.path, event.line, outcome),
        "line": _line(event.path, event.line, outcome),
        "column": event.column + 1,
        "source": event.source,
        "note": event.note,
    }


def problem_document(problem: Problem, outcome: Outcome) -> dict[str, Any]:
    """One problem, or one note."""
    return {
        "path": _path(problem.path),
        **_cell(problem.path, problem.line, outcome),
        "line": _line(problem.path, problem.line, outcome) or None,
        "message": problem.message,
        "hint": problem.hint or None,
    }


def _path(path: str) -> str:
    return path.replace(os.sep, "/")
