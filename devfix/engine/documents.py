"""Findings and problems as JSON documents: ``$defs`` of schema/report-2.json documents them.

Lines and columns count from 1; columns are code points, the end is exclusive.  In a notebook lines count in the cell.
"""

from __future__ import annotations

import os
from typing import Any

from devfix.model import Event, Outcome, Problem, Resolution, Span

__all__ = ["finding_document", "path_document", "problem_document"]


def finding_document(resolution: Resolution, outcome: Outcome) -> dict[str, Any]:
    """Return one finding with its status; ``outcome`` knows the cells of notebooks."""
    finding = resolution.finding
    fix = resolution.fix or (finding.fixes[0] if finding.fixes else None)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "status": resolution.status.value,
        "message": finding.message,
        "path": path_document(finding.path),
        **_cell(finding.path, finding.span.line, outcome),
        "span": _span(finding.path, finding.span, outcome),
        "events": [_event(event, outcome) for event in finding.events],
        "fix": fix
        and {
            "title": fix.title,
            "applicability": fix.applicability.value,
            "files": [path_document(path) for path in fix.paths],
        },
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
        "path": path_document(event.path),
        **_cell(event.path, event.line, outcome),
        "line": _line(event.path, event.line, outcome),
        "column": event.column + 1,
        "source": event.source,
        "note": event.note,
    }


def problem_document(problem: Problem, outcome: Outcome) -> dict[str, Any]:
    """Return one problem or note."""
    return {
        "path": path_document(problem.path),
        **_cell(problem.path, problem.line, outcome),
        "line": _line(problem.path, problem.line, outcome) or None,
        "message": problem.message,
        "hint": problem.hint or None,
    }


def path_document(path: str) -> str:
    """Return a path with forward slashes on every platform."""
    return path.replace(os.sep, "/")
