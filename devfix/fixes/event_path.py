"""The path of a finding, told in the order in which it happened."""

from __future__ import annotations

from devfix.analysis.domain.location import ProgramPoint
from devfix.model import Event

__all__ = ["event_path"]


def event_path(*steps: tuple[ProgramPoint | None, str, str]) -> tuple[Event, ...]:
    """Events from ``(point, kind, note)`` in the order given; steps without a site, and repeated lines, are left out."""
    events: list[Event] = []
    for point, kind, note in steps:
        if point is None:
            continue
        event = point.event(kind, note)
        if not any((event.path, event.line, event.kind) == (known.path, known.line, known.kind) for known in events):
            events.append(event)
    return tuple(events)
