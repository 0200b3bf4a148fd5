"""A diagnosis, and what was done about it, in the words that all reports speak."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from devfix.model import Event, Finding, Outcome, Remedy, Resolution, Severity, Span, Status
from devfix.trace.candidates import Candidate
from devfix.trace.diagnosis import Diagnosis
from devfix.trace.story import Position

__all__ = ["UNNAMED", "finding_of", "with_traced"]

#: Code and name of a cause that no rule names.
UNNAMED = ("DEV000", "traced-cause")


def finding_of(diagnosis: Diagnosis, root: Path, candidate: Candidate | None = None) -> Finding:
    """What a run showed, as a finding at the cause, with paths as a person would name them from here.

    Args:
        diagnosis: the cause.
        root: the folder that the story's paths are relative to.
        candidate: the edit that repairs it.

    """
    from codemods import rule_for

    rule = rule_for(diagnosis.rule)
    code, name = (rule.code, rule.name) if rule is not None else UNNAMED
    at = diagnosis.born.position if diagnosis.born is not None and diagnosis.born.position is not None else None
    at = at or diagnosis.where
    remedies = (Remedy(candidate.title, candidate.edits),) if candidate is not None else ()
    return Finding(
        code,
        name,
        Severity.ERROR,
        _shown(root, at.file),
        _span(at),
        diagnosis.cause,
        tuple(_events(diagnosis, root)),
        remedies,
    )


def _events(diagnosis: Diagnosis, root: Path) -> Iterator[Event]:
    for happening in diagnosis.culprit.strand()[:1]:
        if happening.position is not None:
            made = "it is moved here" if happening.kind == "moved" else f"it is {happening.kind} here"
            yield _event(happening.kind, happening.position, f"{made}, on {happening.device}", root)
    met = (
        "an operation needs it on the CPU here" if diagnosis.peer is None else f"it meets {diagnosis.peer.device} here"
    )
    yield _event("used", diagnosis.where, met, root)


def _event(kind: str, position: Position, note: str, root: Path) -> Event:
    span = _span(position)
    return Event(kind, _shown(root, position.file), span.line, span.column, position.code, note)


def _span(position: Position) -> Span:
    if position.span is None:
        return Span(position.line, 0, position.line, len(position.code))
    return Span(*position.span)


def _shown(root: Path, path: str) -> str:
    whole = str(root / path)
    relative = os.path.relpath(whole)
    return whole if relative.startswith("..") else relative


def with_traced(outcome: Outcome, traced: Iterable[Resolution]) -> Outcome:
    """An outcome in which what a run showed takes the place of what reading said of the same lines without repair."""
    found = tuple(traced)
    told = {(event.path, event.line) for item in found for event in item.finding.events}

    def same(item: Resolution) -> bool:
        return item.status is not Status.FIXED and any((e.path, e.line) in told for e in item.finding.events)

    kept = [item for item in outcome.resolutions if not same(item)]
    ordered = sorted((*kept, *found), key=lambda item: (item.finding.path, item.finding.span, item.finding.code))
    return replace(outcome, resolutions=tuple(ordered))
