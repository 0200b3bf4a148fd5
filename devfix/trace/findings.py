"""Convert a diagnosis and its fix into a finding, as all reports show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devfix.model import Event, Finding, Fix, Outcome, Resolution, Severity, Span, Status
from devfix.rules.registry import rule_for_cause
from devfix.trace.diagnosis.context import NO_RULE
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import Position, ValueEvent
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.edited_sources import EditedSources
from devfix.verify.project import Project

__all__ = ["UNEXPLAINED", "code_and_name", "finding_of", "span_of", "with_traced"]

#: Code and name of a cause that no rule explains.
UNEXPLAINED = (NO_RULE, "traced-cause")


def code_and_name(diagnosis: Diagnosis) -> tuple[str, str]:
    """Return code and name of the rule that explains the cause; :data:`UNEXPLAINED` if none does."""
    rule = rule_for_cause(diagnosis.cause.name)
    return (rule.code, rule.name) if rule is not None else UNEXPLAINED


def finding_of(
    diagnosis: Diagnosis, project: Project, edited: EditedSources, candidate: Candidate | None = None
) -> Finding:
    """Return a diagnosis as a finding at the origin of the misplaced value, with paths relative to the current folder.

    Args:
        diagnosis: the cause, with paths within the project.
        project: the program.
        edited: the program as it was run; the finding's lines are those of the files on disk.
        candidate: the edit that fixes it.

    """
    code, name = code_and_name(diagnosis)
    origin = diagnosis.origin.position if diagnosis.origin is not None else None
    at = origin or diagnosis.where
    return Finding(
        code,
        name,
        Severity.ERROR,
        project.shown(at.file),
        _on_disk(span_of(at, edited), at.file, edited),
        diagnosis.cause.sentence,
        tuple(_events(diagnosis, project, edited)),
        (_fix(candidate, project),) if candidate is not None else (),
        notes=("found by running the script",) if candidate is None else (),
    )


def _fix(candidate: Candidate, project: Project) -> Fix:
    edits = tuple(replace(edit, path=project.shown(edit.path)) for edit in candidate.edits)
    return Fix(f"{candidate.title} (found by running the script)", edits, candidate.applicability)


def _events(diagnosis: Diagnosis, project: Project, edited: EditedSources) -> Iterator[Event]:
    def event_at(position: Position, kind: str, note: str) -> Event:
        span = _on_disk(span_of(position, edited), position.file, edited)
        end = span.end_column if span.end_line == span.line else 0
        return Event(kind, project.shown(position.file), span.line, span.column, position.code, note, end)

    for event in diagnosis.misplaced.device_history()[:1]:
        if event.position is not None:
            yield event_at(event.position, event.kind, _event_note(event))
    yield event_at(diagnosis.where, "used", _use_note(diagnosis))


def _use_note(diagnosis: Diagnosis) -> str:
    if not diagnosis.misplaced.role:  # no value is known
        return "it fails here"
    if diagnosis.peer is not None:
        return f"it is used with a value on {diagnosis.peer.device} here"
    return f"an operation requires it on the {'accelerator' if diagnosis.misplaced.on_cpu else 'CPU'} here"


def _event_note(event: ValueEvent) -> str:
    if event.package is None:
        return f"it is {event.kind} here, on {event.device}"
    return f"{event.package} called from here {event.kind} it, on {event.device}: {event.package.where}"


def _on_disk(span: Span, path: str, edited: EditedSources) -> Span:
    offset = edited.line_on_disk(path, span.line) - span.line
    return Span(span.line + offset, span.column, span.end_line + offset, span.end_column)


def span_of(position: Position, edited: EditedSources) -> Span:
    """Return the span of the expression, else of the line, with columns in code points instead of bytes."""
    if position.span is None:
        return Span(position.line, 0, position.line, len(position.code))
    line, column, end_line, end_column = position.span
    lines = (edited.text(position.file) or "").splitlines()
    return Span(line, _code_points(lines, line, column), end_line, _code_points(lines, end_line, end_column))


def _code_points(lines: Sequence[str], line: int, column: int) -> int:
    if line > len(lines):
        return column
    return len(lines[line - 1].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


def with_traced(outcome: Outcome, traced: Iterable[Resolution]) -> Outcome:
    """Return the outcome with traced findings in place of the unfixed static findings on the same lines."""
    added = tuple(traced)
    lines = {(event.path, event.line) for item in added for event in item.finding.events}

    def is_replaced(item: Resolution) -> bool:
        return item.status is not Status.FIXED and any((e.path, e.line) in lines for e in item.finding.events)

    remaining = [item for item in outcome.resolutions if not is_replaced(item)]
    ordered = sorted((*remaining, *added), key=lambda item: (item.finding.path, item.finding.span, item.finding.code))
    return replace(outcome, resolutions=tuple(ordered))
