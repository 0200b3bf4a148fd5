"""GitLab Code Quality report: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from devfix.model import Problem, Severity
from devfix.report.findings.fingerprints import fingerprints
from devfix.sources.digest import digest

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["render"]

_SEVERITIES = {Severity.ERROR: "critical", Severity.LATENT: "major", Severity.ADVICE: "minor"}


def render(view: View) -> str:
    """Return findings and problems as an ASCII JSON array."""
    return json.dumps([*_findings(view), *(_problem(view, each) for each in view.report.outcome.problems)]) + "\n"


def _findings(view: View) -> list[dict[str, Any]]:
    findings = [item.finding for item in view.listed]
    return [
        {
            "type": "issue",
            "check_name": finding.code,
            "description": f"{finding.code} {finding.name}: {view.message_with_failure(finding)}",
            "categories": ["Bug Risk"],
            "severity": _SEVERITIES[finding.severity],
            "fingerprint": fingerprint,
            "location": {
                "path": view.name(finding.path),
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        for finding, fingerprint in zip(findings, fingerprints(view, findings), strict=True)
    ]


def _problem(view: View, problem: Problem) -> dict[str, Any]:
    line = problem.line or 1
    return {
        "type": "issue",
        "check_name": "problem",
        "description": f"{problem.message}; {problem.hint}" if problem.hint else problem.message,
        "categories": ["Bug Risk"],
        "severity": "major",
        "fingerprint": digest("problem", view.name(problem.path), problem.message),
        "location": {"path": view.name(problem.path), "lines": {"begin": line, "end": line}},
    }
