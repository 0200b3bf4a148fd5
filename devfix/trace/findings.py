"""A diagnosis, and what was done about it, in the words that all reports speak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devfix.model import Event, Finding, Fix, Outcome, Resolution, Severity, Span, Status
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.story import Happening, Position
from devfix.verify.project import Project

__all__ = ["UNNAMED", "code_and_name", "finding_of", "span_of", "with_traced"]

#: Code and name of a cause that no rule names.
UNNAMED = ("DEV000", "traced-cause")


def code_and_name(diagnosis: Diagnosis) -> tuple[str, str]:
    """Of the rule that names a cause."""
    from devfix.rules.registry import rule_for

    rule = rule_for(diagnosis.rule)
    return (rule.code, rule.name) if rule is not None else UNNAMED


def finding_of(diagnosis: Diagnosis, project: Project, texts: Texts, candidate: Candidate | None = None) -> Finding:
    """What a run showed, as a finding at the cause, with paths as a person would name them from here.

    Args:
        diagnosis: the cause, with paths within the project.
        project: the program.
        texts: as it was run; lines are told as they are on the disk.
        candidate: the edit that repairs it.

    """
    code, name = code_and_name(diagnosis)
    at = diagnosis.born.position if diagnosis.born is not None and diagnosis.born.position is not None else None
    at = at or diagnosis.where
    return Finding(
        code,
        name,
        Severity.ERROR,
        project.shown(at.file),
        _on_disk(span_of(at, texts), at.file, texts),
        diagnosis.cause,
        tuple(_events(diagnosis, project, texts)),
        (_fix(candidate, project),) if candidate is not None else (),
        notes=("found by running the script",) if candidate is None else (),
    )


def _fix(candidate: Candidate, project: Project) -> Fix:
    edits = tuple(replace(edit, path=project.shown(edit.path)) for edit in candidate.edits)
    return Fix(f"{candidate.title} (found by running the script)", edits, candidate.applicability)


def _events(diagnosis: Diagnosis, project: Project, texts: Texts) -> Iterator[Event]:
    def event(kind: str, at: Position, note: str) -> Event:
        span = _on_disk(span_of(at, texts), at.file, texts)
        return Event(kind, project.shown(at.file), span.line, span.column, at.code, note)

    for happening in diagnosis.culprit.strand()[:1]:
        if happening.position is not None:
            yield event(happening.kind, happening.position, _what_happened(happening))
    yield event("used", diagnosis.where, _met(diagnosis))


def _met(diagnosis: Diagnosis) -> str:
    if not diagnosis.culprit.role:
        return "it fails here"
    if diagnosis.peer is not None:
        return f"it meets {diagnosis.peer.device} here"
    return f"an operation needs it on the {'accelerator' if diagnosis.culprit.on_cpu else 'CPU'} here"


def _what_happened(happening: Happening) -> str:
    if happening.package is None:
        return f"it is {happening.kind} here, on {happening.device}"
    return f"{happening.package} called from here {happening.kind} it, on {happening.device}: {happening.package.where}"


def _on_disk(span: Span, path: str, texts: Texts) -> Span:
    down = texts.line_before(path, span.line) - span.line
    return Span(span.line + down, span.column, span.end_line + down, span.end_column)


def span_of(position: Position, texts: Texts) -> Span:
    """The span of the expression, else of the line, in code points: Python tells of bytes."""
    if position.span is None:
        return Span(position.line, 0, position.line, len(position.code))
    line, column, end_line, end_column = position.span
    lines = (texts.text(position.file) or "").splitlines()
    return Span(line, _code_points(lines, line, column), end_line, _code_points(lines, end_line, end_column))


def _code_points(lines: Sequence[str], line: int, column: int) -> int:
    if line > len(lines):
        return column
    return len(lines[line - 1].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


def with_traced(outcome: Outcome, traced: Iterable[Resolution]) -> Outcome:
    """An outcome in which what a run showed takes the place of what reading said of the same lines without repair."""
    found = tuple(traced)
    told = {(event.path, event.line) for item in found for event in item.finding.events}

    def same(item: Resolution) -> bool:
        return item.status is not Status.FIXED and any((e.path, e.line) in told for e in item.finding.events)

    kept = [item for item in outcome.resolutions if not same(item)]
    ordered = sorted((*kept, *found), key=lambda item: (item.finding.path, item.finding.span, item.finding.code))
    return replace(outcome, resolutions=tuple(ordered))
