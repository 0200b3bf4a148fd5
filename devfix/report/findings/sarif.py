"""The report as a SARIF 2.1.0 log, for GitHub code scanning and SARIF viewers.

The log stays within the limits of code scanning
(https://docs.github.com/code-security/reference/code-scanning/sarif-support).  The most severe results come first; a
notification counts the omitted ones.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from devfix.model import Problem, Resolution
from devfix.report.findings.sarif_parts import LEVELS, ROOT, artifact, driver, header, text_object
from devfix.report.findings.sarif_results import location, results

if TYPE_CHECKING:
    from devfix.report.view import View
    from devfix.verify.result import Proof

__all__ = ["MAX_BYTES", "MAX_RESULTS", "render"]

#: Code scanning's limits for the results of a run and the bytes of a gzip-compressed log.
MAX_RESULTS = 25_000
MAX_BYTES = 10_000_000

_CATEGORY = "devfix/"  # runs of one category replace each other
_SHARE = 0.8  # of the results stays when the log is too large


def render(view: View) -> str:
    """Return the log as ASCII JSON."""
    items = _sorted(view)
    limit = min(MAX_RESULTS, len(items))
    while True:
        text = json.dumps(_log(view, items, limit), separators=(",", ":"))
        if not limit or len(text) <= MAX_BYTES or len(gzip.compress(text.encode(), 6)) <= MAX_BYTES:
            return text + "\n"
        limit = int(limit * _SHARE)


def _sorted(view: View) -> list[Resolution]:
    """Return the listed findings by severity, then the suppressed ones."""
    return [*view.by_severity(), *view.report.suppressed]


def _log(view: View, items: list[Resolution], limit: int) -> dict[str, Any]:
    levels: dict[str, str] = {}
    for item in items:
        levels.setdefault(item.finding.code, LEVELS[item.finding.severity.value])
    tool = driver(levels=levels)
    rule_indices = {rule["id"]: index for index, rule in enumerate(tool["rules"])}
    found = list(results(view, items[:limit]))
    for result in found:
        if result["ruleId"] in rule_indices:
            result["ruleIndex"] = rule_indices[result["ruleId"]]
    run: dict[str, Any] = {
        "tool": {"driver": tool},
        "automationDetails": {"id": _CATEGORY},
        "originalUriBaseIds": {ROOT: {"description": text_object("The root of the repository.")}},
        "columnKind": "utf16CodeUnits",
        "defaultEncoding": "utf-8",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [_invocation(view, omitted=len(items) - limit)],
        "artifacts": _artifacts(view, items[:limit]),
        "results": found,
    }
    if view.proof is not None:
        run["properties"] = {"verdict": _verdict(view.proof)}
    return {**header(), "runs": [run]}


def _artifacts(view: View, items: list[Resolution]) -> list[dict[str, Any]]:
    """Return the files with results; those not in UTF-8 have an encoding."""
    artifacts = []
    for path in sorted({item.finding.path for item in items}):
        file = view.texts.file(path)
        found: dict[str, Any] = {"location": artifact(view.name(path)), "sourceLanguage": "python"}
        if file is not None and file.encoding != "utf-8":
            found["encoding"] = file.encoding
        artifacts.append(found)
    return artifacts


def _invocation(view: View, omitted: int) -> dict[str, Any]:
    notifications = [_notification(view, problem, "error") for problem in view.report.outcome.problems]
    notifications += [_notification(view, note, "note") for note in view.report.outcome.notes]
    if omitted:
        warning = f"the {omitted} least severe results are omitted: code scanning limits the size of a log"
        notifications.append({"level": "warning", "message": text_object(warning)})
    return {
        "executionSuccessful": True,
        "exitCode": view.report.exit_code,
        "toolExecutionNotifications": notifications,
    }


def _notification(view: View, problem: Problem, level: str) -> dict[str, Any]:
    sentence = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return {"level": level, "message": text_object(sentence), "locations": [location(view, problem.path, problem.line)]}


def _verdict(proof: Proof) -> dict[str, Any]:
    """Return the verdict and a summary of each run."""
    from devfix.report.runs.verdict import document

    verdict = document(proof)
    summary_keys = ("steps", "losses", "largest_difference", "outcome")
    runs = {name: {key: run[key] for key in summary_keys} for name, run in verdict["runs"].items()}
    keys = ("verdict", "reason", "silent", "reference", "script", "arguments", "device", "device_type", "changed")
    return {**{key: verdict[key] for key in keys}, "where": proof.where, "runs": runs}
