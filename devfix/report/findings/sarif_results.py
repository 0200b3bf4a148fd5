"""Findings as results of a SARIF log."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from devfix.engine import suppressions
from devfix.model import Event, Finding, Resolution, Span, Status
from devfix.report.findings.fingerprints import fingerprints, line_hashes
from devfix.report.findings.sarif_parts import LEVELS, artifact, text_object
from devfix.report.positions import Lines, Position, utf16_length
from devfix.report.suggestions import Suggestion

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["location", "results"]

#: Code scanning's limit for the thread flow locations of a result; devfix's paths have a handful of events.
_MAX_EVENTS = 1000
_MAX_SNIPPET = 1000  # characters; longer regions have no snippet


def results(view: View, items: Sequence[Resolution]) -> Iterator[dict[str, Any]]:
    """Yield the result of each finding."""
    findings = [item.finding for item in items]
    hashes = _hashes(view, findings)
    for item, fingerprint in zip(items, fingerprints(view, findings), strict=True):
        line = hashes.get((item.finding.path, item.finding.span.line))
        yield _result(view, item, {"devfix/v1": fingerprint, **({"primaryLocationLineHash": line} if line else {})})


def _result(view: View, item: Resolution, line_fingerprints: dict[str, str]) -> dict[str, Any]:
    finding = item.finding
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "level": LEVELS[finding.severity.value],
        "message": text_object(view.message_with_failure(finding)),
        "locations": [{"physicalLocation": _physical(view, finding.path, finding.span)}],
        "partialFingerprints": line_fingerprints,
        "properties": _properties(view, item),
    }
    if finding.events:
        steps = [_step(view, event) for event in finding.events[-_MAX_EVENTS:]]
        found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        found["relatedLocations"] = [_related(view, finding)]
    suggestion = view.suggestions.of(finding)
    if suggestion is not None and item.status is not Status.SUPPRESSED:
        found["fixes"] = [_fix(view, suggestion)]
    if item.status is Status.SUPPRESSED:
        found["suppressions"] = [_suppression(view, finding)]
    return found


def _properties(view: View, item: Resolution) -> dict[str, Any]:
    finding = item.finding
    fix = item.fix or next(iter(finding.fixes), None)
    found: dict[str, Any] = {"severity": finding.severity.value, "status": item.status.value}
    if fix is not None:
        found.update(fix=fix.title, applicability=fix.applicability.value)
    if reason := item.reason or finding.reason:
        found["reason"] = reason
    if finding.notes:
        found["notes"] = list(finding.notes)
    from devfix.engine.scan import identity

    other = view.suggestions.fixed_with.get(identity(finding))
    if other is not None:
        found["fixedBy"] = f"{view.name(other.path)}:{other.span.line}"
    if view.proof is not None and item.status is Status.FIXED:
        found["verdict"] = view.proof.verdict.status
    return found


def location(view: View, path: str, line: int = 0) -> dict[str, Any]:
    """Return the location of a file, or of a line of it."""
    physical: dict[str, Any] = {"artifactLocation": _artifact(view, path)}
    if line:
        physical["region"] = {"startLine": line}
    return {"physicalLocation": physical}


def _physical(view: View, path: str, span: Span) -> dict[str, Any]:
    lines = view.texts.lines(path)
    start, end = Position(span.line, span.column), Position(span.end_line, span.end_column)
    return {"artifactLocation": _artifact(view, path), "region": _region_with_snippet(lines, start, end)}


def _artifact(view: View, path: str) -> dict[str, Any]:
    name = view.name(path)
    if name.split("/")[0] != os.pardir:
        return artifact(name)
    return artifact(os.path.realpath(path).replace(os.sep, "/"), inside=False)


def _region_with_snippet(lines: Lines, start: Position, end: Position) -> dict[str, Any]:
    """Return a region with its source snippet, unless the snippet is long."""
    region: dict[str, Any] = _region(lines, start, end)
    snippet = lines.text[lines.start(start.line) + start.column : lines.start(end.line) + end.column]
    if 0 < len(snippet) <= _MAX_SNIPPET:
        region["snippet"] = text_object(snippet)
    return region


def _region(lines: Lines, start: Position, end: Position) -> dict[str, int]:
    """Return a region; columns count UTF-16 code units from 1, and the end is exclusive."""
    return {
        "startLine": start.line,
        "startColumn": utf16_length(lines.prefix(start)) + 1,
        "endLine": end.line,
        "endColumn": utf16_length(lines.prefix(end)) + 1,
    }


def _step(view: View, event: Event) -> dict[str, Any]:
    return {
        "location": {**_event_location(view, event), "message": text_object(event.note or event.kind)},
        "kinds": [event.kind],
    }


def _related(view: View, finding: Finding) -> dict[str, Any]:
    failure = finding.failure or finding.events[-1]
    return {"id": 1, **_event_location(view, failure), "message": text_object(failure.note or "fails here")}


def _event_location(view: View, event: Event) -> dict[str, Any]:
    lines = view.texts.lines(event.path)
    start = Position(event.line, event.column)
    end = Position(event.line, event.end_column or max(len(lines[event.line].rstrip()), event.column))
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(view, event.path),
            "region": _region_with_snippet(lines, start, end),
        }
    }


def _fix(view: View, suggestion: Suggestion) -> dict[str, Any]:
    changes = []
    for path in suggestion.paths:
        lines = view.texts.lines(path)
        replaced = [
            {
                "deletedRegion": _region(lines, lines.position(each.start), lines.position(each.end)),
                "insertedContent": text_object(each.text),
            }
            for each in suggestion.replacements
            if each.path == path
        ]
        changes.append({"artifactLocation": _artifact(view, path), "replacements": replaced})
    return {
        "description": text_object(f"{suggestion.title} ({suggestion.applicability.value})"),
        "artifactChanges": changes,
    }


def _suppression(view: View, finding: Finding) -> dict[str, Any]:
    comments = suppressions.collect(view.texts.lines(finding.path).text)
    reason = comments.reason(finding.code, finding.span, finding.name)
    return {"kind": "inSource", "status": "accepted", **({"justification": reason} if reason else {})}


def _hashes(view: View, findings: Sequence[Finding]) -> dict[tuple[str, int], str]:
    lines_by_path: dict[str, set[int]] = {}
    for finding in findings:
        lines_by_path.setdefault(finding.path, set()).add(finding.span.line)
    found = {}
    for path, numbers in lines_by_path.items():
        file = view.texts.file(path)
        if file is not None:
            hashes = line_hashes(file.raw, numbers)
            found.update({(path, number): value for number, value in hashes.items()})
    return found
