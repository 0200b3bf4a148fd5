"""A migration as a SARIF 2.1.0 log with one run per repository, written incrementally.

Records hold findings as in schema/report-2.json, so columns count code points; edits are in the patch files.
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
from devfix.report.findings.sarif_parts import LEVELS, ROOT, artifact, driver, header, text_object, uri_path
from devfix.sources.digest import digest

__all__ = ["BETWEEN", "CLOSING", "opening", "run"]

#: Text between two runs, and after the last one.
BETWEEN = ",\n"
CLOSING = "\n]}\n"

_RESERVED = ":/?#[]@!$&'()*+,;=%~"
_REMOTE = re.compile(r"((?:[^/:@]+@)?[^/:@]+):(.+)")


def opening() -> str:
    """Return the text before the first run."""
    return json.dumps({**header(), "runs": []}, separators=(",", ":")).removesuffix("]}") + "\n"


def run(record: Record) -> str:
    """Return the run of one repository as ASCII JSON."""
    findings = sorted(record.findings, key=lambda finding: list(LEVELS).index(finding["severity"]))
    levels: dict[str, str] = {}
    for finding in findings:
        levels.setdefault(finding["code"], LEVELS[finding["severity"]])
    tool = driver(levels, levels)
    rule_indices = {rule["id"]: index for index, rule in enumerate(tool["rules"])}
    seen: Counter[str] = Counter()
    document = {
        "tool": {"driver": tool},
        "automationDetails": {"id": f"devfix/{record.name}/"},
        "versionControlProvenance": [_provenance(record)],
        "originalUriBaseIds": {ROOT: {"description": text_object("The root of the repository.")}},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [_invocation(record)],
        "results": [_result(record, finding, rule_indices, seen) for finding in findings],
        "properties": _properties(record),
    }
    return json.dumps(document, separators=(",", ":"))


def _provenance(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {"repositoryUri": _repository_uri(record.repository), "mappedTo": {"uriBaseId": ROOT}}
    if record.commit:
        found["revisionId"] = record.commit
    if record.ref:
        found["branch"] = record.ref
    return found


def _repository_uri(repository: str) -> str:
    """Return the URI of a repository that git accepts as a URL, a path, or ``user@host:path``."""
    if "://" in repository:
        return uri_path(repository, safe=_RESERVED)
    remote = _REMOTE.fullmatch(repository)
    if remote and not os.path.exists(repository):
        return f"ssh://{uri_path(remote[1], safe='@')}/{uri_path(remote[2].lstrip('/'))}"
    return f"file://{uri_path(os.path.abspath(repository).replace(os.sep, '/'))}"


def _invocation(record: Record) -> dict[str, Any]:
    failed = record.outcome is RepositoryOutcome.FAILED
    notifications: list[dict[str, Any]] = []
    if record.reason:
        notifications.append({"level": "error" if failed else "warning", "message": text_object(record.reason)})
    for level, problems in (("error", record.problems), ("note", record.notes)):
        for problem in problems:
            sentence = f"{problem['message']}; {problem['hint']}" if problem["hint"] else problem["message"]
            location = _location(record, problem["path"], problem["line"] and {"startLine": problem["line"]})
            notifications.append({"level": level, "message": text_object(sentence), "locations": [location]})
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
    record: Record, finding: Mapping[str, Any], rule_indices: Mapping[str, int], seen: Counter[str]
) -> dict[str, Any]:
    source = finding["events"][0]["source"] if finding["events"] else finding["message"]
    fingerprint = digest(finding["code"], finding["path"], source)
    seen[fingerprint] += 1
    number = seen[fingerprint]
    is_fixed = finding["status"] == Status.FIXED.value
    properties = {"severity": finding["severity"], "status": finding["status"]}
    if is_fixed and not record.patch:
        properties["status"] = "not-kept"
    if finding["reason"]:
        properties["reason"] = finding["reason"]
    span = finding["span"]
    keys = {"startLine": "line", "startColumn": "column", "endLine": "end_line", "endColumn": "end_column"}
    found = {
        "ruleId": finding["code"],
        "level": LEVELS[finding["severity"]],
        "message": text_object(finding["message"]),
        "locations": [_location(record, finding["path"], {key: span[name] for key, name in keys.items()})],
        "partialFingerprints": {"devfix/v1": fingerprint if number == 1 else digest(fingerprint, str(number))},
        "properties": properties,
    }
    if finding["code"] in rule_indices:
        found["ruleIndex"] = rule_indices[finding["code"]]
    if finding["events"]:
        steps = [{"location": _step(record, event), "kinds": [event["kind"]]} for event in finding["events"]]
        found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding["status"] == Status.SUPPRESSED.value:
        found["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
    return found


def _step(record: Record, event: Mapping[str, Any]) -> dict[str, Any]:
    region = {"startLine": event["line"], "startColumn": event["column"]}
    return {**_location(record, event["path"], region), "message": text_object(event["note"] or event["kind"])}


def _location(record: Record, path: str, region: Mapping[str, int] | None) -> dict[str, Any]:
    inside = not os.path.isabs(path)
    physical: dict[str, Any] = {"artifactLocation": artifact(path, inside)}
    if region:
        physical["region"] = dict(region)
    return {"physicalLocation": physical}
