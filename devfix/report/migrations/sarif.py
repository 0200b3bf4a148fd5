"""A migration as a SARIF 2.1.0 log: one run for each repository, written while they come.

Records hold findings as schema/report-2.json has them, so columns are code points; the edits are in the patch files.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from devfix.migrate.record import Record, RepositoryOutcome
from devfix.model import Status
from devfix.report.findings.sarif_parts import LEVELS, ROOT, artifact, driver, encoded, head, text
from devfix.sources.digest import digest

__all__ = ["BETWEEN", "CLOSING", "opening", "run"]

#: What stands between two runs, and behind the last one.
BETWEEN = ",\n"
CLOSING = "\n]}\n"

_RESERVED = ":/?#[]@!$&'()*+,;=%~"
_REMOTE = re.compile(r"((?:[^/:@]+@)?[^/:@]+):(.+)")


def opening() -> str:
    """What stands ahead of the first run."""
    return json.dumps({**head(), "runs": []}, separators=(",", ":")).removesuffix("]}") + "\n"


def run(record: Record) -> str:
    """One repository, in ASCII."""
    findings = sorted(record.findings, key=lambda finding: list(LEVELS).index(finding["severity"]))
    levels: dict[str, str] = {}
    for finding in findings:
        levels.setdefault(finding["code"], LEVELS[finding["severity"]])
    tool = driver(levels, levels)
    places = {rule["id"]: place for place, rule in enumerate(tool["rules"])}
    seen: Counter[str] = Counter()
    document = {
        "tool": {"driver": tool},
        "automationDetails": {"id": f"devfix/{record.name}/"},
        "versionControlProvenance": [_provenance(record)],
        "originalUriBaseIds": {ROOT: {"description": text("The root of the repository.")}},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [_invocation(record)],
        "results": [_result(record, finding, places, seen) for finding in findings],
        "properties": _properties(record),
    }
    return json.dumps(document, separators=(",", ":"))


def _provenance(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {"repositoryUri": _address(record.repository), "mappedTo": {"uriBaseId": ROOT}}
    if record.commit:
        found["revisionId"] = record.commit
    if record.ref:
        found["branch"] = record.ref
    return found


def _address(repository: str) -> str:
    """A repository as a URI: git also takes paths, and ``user@host:path``."""
    if "://" in repository:
        return encoded(repository, safe=_RESERVED)
    remote = _REMOTE.fullmatch(repository)
    if remote and not os.path.exists(repository):
        return f"ssh://{encoded(remote[1], safe='@')}/{encoded(remote[2].lstrip('/'))}"
    return f"file://{encoded(os.path.abspath(repository).replace(os.sep, '/'))}"


def _invocation(record: Record) -> dict[str, Any]:
    failed = record.outcome is RepositoryOutcome.FAILED
    notifications: list[dict[str, Any]] = []
    if record.reason:
        notifications.append({"level": "error" if failed else "warning", "message": text(record.reason)})
    for level, problems in (("error", record.problems), ("note", record.notes)):
        for problem in problems:
            words = f"{problem['message']}; {problem['hint']}" if problem["hint"] else problem["message"]
            where = _location(record, problem["path"], problem["line"] and {"startLine": problem["line"]})
            notifications.append({"level": level, "message": text(words), "locations": [where]})
    return {"executionSuccessful": not failed, "toolExecutionNotifications": notifications}


def _properties(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {"outcome": record.outcome.value, "stage": record.stage}
    if record.published is not None and record.published.path:
        found["patch"] = record.published.path
    if record.verdict is not None:
        verdict = record.verdict
        found["verdict"] = {"verdict": verdict.status, "reason": verdict.reason, "where": verdict.where}
    return found


def _result(
    record: Record, finding: Mapping[str, Any], places: Mapping[str, int], seen: Counter[str]
) -> dict[str, Any]:
    source = finding["events"][0]["source"] if finding["events"] else finding["message"]
    mark = digest(finding["code"], finding["path"], source)
    seen[mark] += 1
    repaired = finding["status"] == Status.FIXED.value
    properties = {"severity": finding["severity"], "status": finding["status"]}
    if repaired and not record.patch:
        properties["status"] = "not-kept"
    if finding["reason"]:
        properties["reason"] = finding["reason"]
    span = finding["span"]
    keys = {"startLine": "line", "startColumn": "column", "endLine": "end_line", "endColumn": "end_column"}
    found = {
        "ruleId": finding["code"],
        "level": LEVELS[finding["severity"]],
        "message": text(finding["message"]),
        "locations": [_location(record, finding["path"], {key: span[name] for key, name in keys.items()})],
        "partialFingerprints": {"devfix/v1": mark if seen[mark] == 1 else digest(mark, str(seen[mark]))},
        "properties": properties,
    }
    if finding["code"] in places:
        found["ruleIndex"] = places[finding["code"]]
    if finding["events"]:
        steps = [{"location": _step(record, event), "kinds": [event["kind"]]} for event in finding["events"]]
        found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding["status"] == Status.SUPPRESSED.value:
        found["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
    return found


def _step(record: Record, event: Mapping[str, Any]) -> dict[str, Any]:
    region = {"startLine": event["line"], "startColumn": event["column"]}
    return {**_location(record, event["path"], region), "message": text(event["note"] or event["kind"])}


def _location(record: Record, path: str, region: Mapping[str, int] | None) -> dict[str, Any]:
    inside = not os.path.isabs(path)
    physical: dict[str, Any] = {"artifactLocation": artifact(path, inside)}
    if region:
        physical["region"] = dict(region)
    return {"physicalLocation": physical}
