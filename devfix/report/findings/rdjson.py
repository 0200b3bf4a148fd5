"""Diagnostics for reviewdog, with suggestions that it can post and a reviewer can commit.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf: columns are bytes of UTF-8 from 1, ends are exclusive,
and paths are relative to the folder in which reviewdog runs.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from devfix.model import Resolution, Severity
from devfix.report.positions import Lines, Place, in_utf8
from devfix.report.rules import address
from devfix.report.suggestions import Suggestion, applied

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["render"]

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.LATENT: "WARNING", Severity.ADVICE: "INFO"}
#: Lines from the first to the last one that a suggestion replaces; a longer one hides what it changes.
_MOST_LINES = 25


def render(view: View) -> str:
    """The result, in ASCII."""
    diagnostics = [_diagnostic(view, item) for item in view.listed]
    for problem in view.report.outcome.problems:
        where: dict[str, Any] = {"path": _path(problem.path)}
        if problem.line:
            where["range"] = {"start": {"line": problem.line}}
        message = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        diagnostics.append({"message": message, "location": where, "severity": "ERROR"})
    return json.dumps({"source": {"name": "devfix"}, "diagnostics": diagnostics}) + "\n"


def _diagnostic(view: View, item: Resolution) -> dict[str, Any]:
    finding = item.finding
    lines, span = view.texts.lines(finding.path), finding.span
    found: dict[str, Any] = {
        "message": view.sentence(finding),
        "location": {
            "path": _path(finding.path),
            "range": _range(lines, Place(span.line, span.column), Place(span.end_line, span.end_column)),
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, "url": address(finding.code)},
    }
    suggestion = view.suggestions.of(finding)
    rdjson_suggestion = None if suggestion is None else _suggestion(lines, finding.path, suggestion)
    if rdjson_suggestion is not None:
        found["suggestions"] = [rdjson_suggestion]
    return found


def _suggestion(lines: Lines, path: str, suggestion: Suggestion) -> dict[str, Any] | None:
    """The whole fix as new text for whole lines; None where it changes other files, too, or lines far apart.

    A reviewer's service commits a suggestion by itself, and half of a fix is a new bug.
    """
    if suggestion.paths != (path,):
        return None
    first = min(lines.place(each.start).line for each in suggestion.replacements)
    last = max(lines.place(each.end).line for each in suggestion.replacements)
    if last == len(lines) and not lines[last] and last > first:
        last -= 1  # behind the last end of line there is no line
    if last - first >= _MOST_LINES:
        return None
    start, end = lines.start(first), lines.end(last)
    new = applied(lines.text, suggestion.replacements)
    if new is None or max(each.end for each in suggestion.replacements) > end:
        return None
    text = new[start : len(new) - (len(lines.text) - end)]
    return {"range": _range(lines, Place(first, 0), Place(last, end - lines.start(last))), "text": text}


def _range(lines: Lines, start: Place, end: Place) -> dict[str, Any]:
    return {"start": _position(lines, start), "end": _position(lines, end)}


def _position(lines: Lines, place: Place) -> dict[str, int]:
    return {"line": place.line, "column": in_utf8(lines.before(place)) + 1}


def _path(path: str) -> str:
    return path.replace(os.sep, "/")
