"""Reviewdog Diagnostic Format, with suggestions that a reviewer can commit.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf: columns count UTF-8 bytes from 1, ends are exclusive, and
paths are relative to reviewdog's working directory.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from devfix.model import Resolution, Severity
from devfix.report.positions import Lines, Position, utf8_length
from devfix.report.rules import help_uri
from devfix.report.suggestions import Suggestion, apply_replacements

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["render"]

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.LATENT: "WARNING", Severity.ADVICE: "INFO"}
#: Maximum number of lines from the first to the last replacement; longer suggestions are hard to review.
_MAX_LINES = 25


def render(view: View) -> str:
    """Return the diagnostic result as ASCII JSON."""
    diagnostics = [_diagnostic(view, item) for item in view.listed]
    for problem in view.report.outcome.problems:
        location: dict[str, Any] = {"path": _path(problem.path)}
        if problem.line:
            location["range"] = {"start": {"line": problem.line}}
        message = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        diagnostics.append({"message": message, "location": location, "severity": "ERROR"})
    return json.dumps({"source": {"name": "devfix"}, "diagnostics": diagnostics}) + "\n"


def _diagnostic(view: View, item: Resolution) -> dict[str, Any]:
    finding = item.finding
    lines, span = view.texts.lines(finding.path), finding.span
    found: dict[str, Any] = {
        "message": view.message_with_failure(finding),
        "location": {
            "path": _path(finding.path),
            "range": _range(lines, Position(span.line, span.column), Position(span.end_line, span.end_column)),
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, "url": help_uri(finding.code)},
    }
    suggestion = view.suggestions.of(finding)
    rdjson_suggestion = None if suggestion is None else _suggestion(lines, finding.path, suggestion)
    if rdjson_suggestion is not None:
        found["suggestions"] = [rdjson_suggestion]
    return found


def _suggestion(lines: Lines, path: str, suggestion: Suggestion) -> dict[str, Any] | None:
    """Return a fix as new text of whole lines; None if it changes other files or distant lines.

    Review services commit suggestions one by one, and part of a fix would be a new bug.
    """
    if suggestion.paths != (path,):
        return None
    first = min(lines.position(each.start).line for each in suggestion.replacements)
    last = max(lines.position(each.end).line for each in suggestion.replacements)
    if last == len(lines) and not lines[last] and last > first:
        last -= 1  # the empty text after the last line ending is not a line
    if last - first >= _MAX_LINES:
        return None
    start, end = lines.start(first), lines.end(last)
    new = apply_replacements(lines.text, suggestion.replacements)
    if new is None or max(each.end for each in suggestion.replacements) > end:
        return None
    text = new[start : len(new) - (len(lines.text) - end)]
    return {"range": _range(lines, Position(first, 0), Position(last, end - lines.start(last))), "text": text}


def _range(lines: Lines, start: Position, end: Position) -> dict[str, Any]:
    return {"start": _position(lines, start), "end": _position(lines, end)}


def _position(lines: Lines, position: Position) -> dict[str, int]:
    return {"line": position.line, "column": utf8_length(lines.prefix(position)) + 1}


def _path(path: str) -> str:
    return path.replace(os.sep, "/")
