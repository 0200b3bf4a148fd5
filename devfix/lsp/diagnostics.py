"""Findings as diagnostics of the protocol."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from lsprotocol import types

from devfix.lsp.documents import Text
from devfix.lsp.project import Report
from devfix.model import Event, Problem, Resolution, Severity, Span, Status
from devfix.report.rules import help_uri

__all__ = ["SOURCE", "Abilities", "Located", "Reader", "Shown", "shown"]

SOURCE = "devfix"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.LATENT: types.DiagnosticSeverity.Warning,
    Severity.ADVICE: types.DiagnosticSeverity.Information,
}


class Located(NamedTuple):
    """A file as the client identifies it; only open files have a version."""

    uri: str
    version: int | None
    text: Text


#: A file by its absolute path; ``None`` where it cannot be read.
Reader = Callable[[str], "Located | None"]

#: A diagnostic with the resolution that it tells of; ``None`` for remarks.
Shown = tuple[types.Diagnostic, "Resolution | None"]


class Abilities:
    """The capabilities of the client."""

    def __init__(self, capabilities: types.ClientCapabilities) -> None:
        document = capabilities.text_document
        publish = document.publish_diagnostics if document is not None else None
        self.related = bool(publish and publish.related_information)
        self.descriptions = bool(publish and publish.code_description_support)
        self.versions = bool(publish and publish.version_support)
        self.tags = bool(publish and publish.tag_support)


def shown(report: Report, text: Text, read: Reader, abilities: Abilities) -> list[Shown]:
    """Return the diagnostics of one file."""
    found: list[Shown] = [
        (_of_finding(each, text, read, abilities), each)
        for each in report.resolutions
        if each.status is not Status.SUPPRESSED
    ]
    found += [(_of_note(note, text, abilities), None) for note in report.notes]
    return [*found, *((_of_problem(problem, text), None) for problem in report.problems)]


def _of_finding(resolution: Resolution, text: Text, read: Reader, abilities: Abilities) -> types.Diagnostic:
    finding = resolution.finding
    lines = [finding.message, *finding.notes]
    if resolution.status is Status.NOT_FIXED and resolution.reason:
        lines.append(f"not fixed: {resolution.reason}")
    related = None
    if abilities.related:
        related = [told for event in finding.events if (told := _related(event, read)) is not None]
    else:
        lines += [f"{os.path.basename(event.path)}:{event.line}: {event.note}" for event in finding.events]
    return types.Diagnostic(
        range=text.range(finding.span),
        message="\n".join(lines),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(help_uri(finding.code)) if abilities.descriptions else None,
        source=SOURCE,
        related_information=related,
        data={"name": finding.name},
    )


def _related(event: Event, read: Reader) -> types.DiagnosticRelatedInformation | None:
    file = read(os.path.abspath(event.path))
    if file is None or event.line > len(file.text.lines):
        return None
    end = len(file.text.lines[event.line - 1].rstrip())
    where = file.text.range(Span(event.line, event.column, event.line, max(end, event.column)))
    return types.DiagnosticRelatedInformation(types.Location(file.uri, where), event.note)


def _of_note(note: Problem, text: Text, abilities: Abilities) -> types.Diagnostic:
    """Return the diagnostic of a note; an unused suppression is marked as unnecessary."""
    line = max(note.line, 1)
    content = text.lines[line - 1].rstrip() if line <= len(text.lines) else ""
    start = max(content.find("#"), 0) if note.line else 0
    tag = [types.DiagnosticTag.Unnecessary] if note.line and abilities.tags else None
    return types.Diagnostic(
        range=text.range(Span(line, start, line, len(content))),
        message=f"{note.message}: {note.hint}" if note.hint else note.message,
        severity=types.DiagnosticSeverity.Hint,
        source=SOURCE,
        tags=tag,
    )


def _of_problem(problem: Problem, text: Text) -> types.Diagnostic:
    """Return the diagnostic that says why the file is not analysed now."""
    line = min(max(problem.line, 1), len(text.lines))
    content = text.lines[line - 1].rstrip()
    start = len(content) - len(content.lstrip())
    return types.Diagnostic(
        range=text.range(Span(line, start, line, len(content))),
        message=problem.message,
        severity=types.DiagnosticSeverity.Information,
        code="not-analysed",
        source=SOURCE,
    )
