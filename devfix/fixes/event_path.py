"""The event path of a finding, in the order of execution."""

from __future__ import annotations

from devfix.analysis.domain.location import ProgramPoint
from devfix.model import Event

__all__ = ["event_path"]


def event_path(*steps: tuple[ProgramPoint | None, str, str]) -> tuple[Event, ...]:
    """Return events from ``(point, kind, note)``, without steps that have no point and without repeated lines."""
    events: list[Event] = []
    for point, kind, note in steps:
        if point is None:
            continue
        event = point.event(kind, note)
        if not any((event.path, event.line, event.kind) == (known.path, known.line, known.kind) for known in events):
            events.append(event)
    return tuple(events)
