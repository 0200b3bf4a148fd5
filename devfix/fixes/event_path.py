"""The event path of a finding, in the order of execution, with the calls that lead from one step to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.model import Event

__all__ = ["event_path"]


def event_path(*steps: tuple[ProgramPoint | None, str, str]) -> tuple[Event, ...]:
    """Return events from ``(point, kind, note)``, without steps that have no point and without repeated lines.

    Between two steps come the calls that lead to the second one: in the function that both have in common, and below.
    """
    events: list[Event] = []
    before: ProgramPoint | None = None
    for point, kind, note in steps:
        if point is None:
            continue
        told = {(event.path, event.line) for event in events} | {(point.tree.path, point.span.line)}
        for frame in _calls(before, point) if before is not None else ():
            call = _event(frame)
            if (call.path, call.line) not in told:
                told.add((call.path, call.line))
                events.append(call)
        event = point.event(kind, note)
        if not any((event.path, event.line, event.kind) == (known.path, known.line, known.kind) for known in events):
            events.append(event)
        before = point
    return tuple(events)


def _calls(before: ProgramPoint, point: ProgramPoint) -> Iterator[CallFrame]:
    """Yield the frames whose statements call what leads to a point, from where both points have a frame in common."""
    shared = 0
    for mine, other in zip(point.call_stack, before.call_stack, strict=False):
        if mine.activation is not other.activation:
            break
        shared += 1
    for frame in point.call_stack[max(0, shared - 1) : -1]:
        if not isinstance(frame.stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield frame  # a definition stands for any caller


def _event(frame: CallFrame) -> Event:
    return frame.tree.event("called", frame.stmt, "called here")
