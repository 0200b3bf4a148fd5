"""The report as a SARIF 2.1.0 log, for code scanning of GitHub and for viewers.

What code scanning takes is respected (https://docs.github.com/code-security/reference/code-scanning/sarif-support):
the most severe results come first, and where there are more than it takes the log says how many were left out.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from devfix.model import Problem, Resolution
from devfix.report.findings.sarif_parts import LEVELS, ROOT, artifact, driver, head, text
from devfix.report.findings.sarif_results import location, results

if TYPE_CHECKING:
    from devfix.report.view import View
    from devfix.verify.result import Proof

__all__ = ["MOST_BYTES", "MOST_RESULTS", "render"]

#: Results of one run, and bytes of a compressed upload, beyond which code scanning refuses a log.
MOST_RESULTS = 25_000
MOST_BYTES = 10_000_000

_CATEGORY = "devfix/"  # runs of one category replace each other
_SHARE = 0.8  # of the results, while the log is too large


def render(view: View) -> str:
    """The log, in ASCII."""
    items = _sorted(view)
    most = min(MOST_RESULTS, len(items))
    while True:
        whole = json.dumps(_log(view, items, most), separators=(",", ":"))
        if not most or len(whole) <= MOST_BYTES or len(gzip.compress(whole.encode(), 6)) <= MOST_BYTES:
            return whole + "\n"
        most = int(most * _SHARE)


def _sorted(view: View) -> list[Resolution]:
    """What is listed, the worst first, then what comments suppress."""
    return [*view.worst_first(), *view.report.suppressed]


def _log(view: View, items: list[Resolution], most: int) -> dict[str, Any]:
    levels: dict[str, str] = {}
    for item in items:
        levels.setdefault(item.finding.code, LEVELS[item.finding.severity.value])
    tool = driver(levels=levels)
    places = {rule["id"]: place for place, rule in enumerate(tool["rules"])}
    found = list(results(view, items[:most]))
    for result in found:
        if result["ruleId"] in places:
            result["ruleIndex"] = places[result["ruleId"]]
    run: dict[str, Any] = {
        "tool": {"driver": tool},
        "automationDetails": {"id": _CATEGORY},
        "originalUriBaseIds": {ROOT: {"description": text("The root of the repository.")}},
        "columnKind": "utf16CodeUnits",
        "defaultEncoding": "utf-8",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [_invocation(view, left=len(items) - most)],
        "artifacts": _artifacts(view, items[:most]),
        "results": found,
    }
    if view.proof is not None:
        run["properties"] = {"verdict": _verdict(view.proof)}
    return {**head(), "runs": [run]}


def _artifacts(view: View, items: list[Resolution]) -> list[dict[str, Any]]:
    """The files with results, and the encoding of those that are not UTF-8."""
    made = []
    for path in sorted({item.finding.path for item in items}):
        file = view.texts.file(path)
        found: dict[str, Any] = {"location": artifact(view.name(path)), "sourceLanguage": "python"}
        if file is not None and file.encoding != "utf-8":
            found["encoding"] = file.encoding
        made.append(found)
    return made


def _invocation(view: View, left: int) -> dict[str, Any]:
    notifications = [_notification(view, problem, "error") for problem in view.report.outcome.problems]
    notifications += [_notification(view, note, "note") for note in view.report.outcome.notes]
    if left:
        told = f"{left} results are left out, the least severe ones: code scanning takes no more in one log"
        notifications.append({"level": "warning", "message": text(told)})
    return {
        "executionSuccessful": True,
        "exitCode": view.report.exit_code,
        "toolExecutionNotifications": notifications,
    }


def _notification(view: View, problem: Problem, level: str) -> dict[str, Any]:
    words = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return {"level": level, "message": text(words), "locations": [location(view, problem.path, problem.line)]}


def _verdict(proof: Proof) -> dict[str, Any]:
    """What the runs prove, and what they came to."""
    from devfix.report.runs.verdict import document

    whole = document(proof)
    kept = ("steps", "losses", "largest_difference", "outcome")
    runs = {name: {key: run[key] for key in kept} for name, run in whole["runs"].items()}
    facts = ("verdict", "reason", "silent", "reference", "script", "arguments", "device", "device_type", "changed")
    return {**{key: whole[key] for key in facts}, "where": proof.where, "runs": runs}
