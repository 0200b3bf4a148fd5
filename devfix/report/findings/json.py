"""The JSON report, documented by schema/report-2.json.

Lines and columns count from 1; columns are code points; ends are exclusive.  In a notebook, lines count from the start
of the cell.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.engine.documents import finding_document, path_document, problem_document
from devfix.report.summary import Report

if TYPE_CHECKING:
    from devfix.report.view import View
    from devfix.verify.result import Proof

__all__ = ["SCHEMA_VERSION", "document", "dumps", "render"]

SCHEMA_VERSION = 2


def render(view: View) -> str:
    """Return the report as ASCII JSON, indented, with a final newline."""
    return dumps(view.report, view.proof)


def dumps(report: Report, proof: Proof | None = None) -> str:
    """Return a report and its proof, if any, as ASCII JSON, indented, with a final newline."""
    return json.dumps(document(report, proof), indent=2) + "\n"


def document(report: Report, proof: Proof | None = None) -> dict[str, Any]:
    """Return a report and its proof, if any, as JSON values."""
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
            "hidden": report.outcome.hidden,
            "problems": len(report.outcome.problems),
        },
        "findings": [finding_document(resolution, report.outcome) for resolution in report.outcome.resolutions],
        "changes": [{"path": path_document(change.path)} for change in report.outcome.patch.files],
        "problems": [problem_document(problem, report.outcome) for problem in report.outcome.problems],
        "notes": [problem_document(note, report.outcome) for note in report.outcome.notes],
        "verdict": None if proof is None else _verdict(proof),
    }


def _verdict(proof: Proof) -> dict[str, Any]:
    verdict = proof.verdict
    return {"status": verdict.status, "reason": verdict.reason, "good": verdict.good, "where": proof.where}
