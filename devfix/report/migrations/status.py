"""The progress of a migration as text and as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from devfix.migrate.changes import ChangeState
from devfix.migrate.overview import Overview
from devfix.migrate.record import RepositoryOutcome
from devfix.report.sanitize import printable

__all__ = ["status_document", "status_lines"]


def status_lines(found: Overview, now: float | None = None) -> Iterator[str]:
    """Yield the lines of ``devfix migrate status``."""
    now = time.time() if now is None else now
    done = found.outcomes.total()
    yield printable(f"{found.plan or 'no plan'}: {'running' if found.is_running else 'not running'}")
    outcomes = [f"{found.outcomes[each]} {each.value}" for each in RepositoryOutcome if found.outcomes[each]]
    yield ", ".join([f"{done} of {max(done, found.total)} repositories done", *outcomes])
    if found.rate:
        estimate = "" if found.remaining_s is None else f", {duration(found.remaining_s)} for the other {found.left}"
        yield f"{found.rate:.1f} per second{estimate}"
    for each in found.active:
        yield printable(f"  {each.stage:9} {duration(now - each.since):>8}  {each.name}")
    if found.causes:
        yield "failures:"
        for stage, reason, count in found.causes:
            yield printable(f"  {count:6} in {stage}: {reason}".replace("\n", " "))
    if found.changes:
        changes = [f"{found.changes[each]} {each.value}" for each in ChangeState if found.changes[each]]
        yield f"pull requests: {', '.join(changes)}"


def status_document(found: Overview) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "plan": found.plan,
        "running": found.is_running,
        "started": found.started,
        "total": found.total,
        "outcomes": {outcome.value: found.outcomes[outcome] for outcome in RepositoryOutcome},
        "left": found.left,
        "rate": found.rate,
        "remaining_s": found.remaining_s,
        "active": [{"name": each.name, "stage": each.stage, "since": each.since} for each in found.active],
        "failures": [{"stage": stage, "reason": reason, "count": count} for stage, reason, count in found.causes],
        "changes": {state.value: found.changes[state] for state in ChangeState},
    }


def duration(seconds: float) -> str:
    """Return a duration, rounded: ``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 120:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
