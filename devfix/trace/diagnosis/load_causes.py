"""The cause of a value that was loaded from a file onto the wrong device."""

from __future__ import annotations

from devfix.trace.call_syntax import call_at, has_map_location
from devfix.trace.diagnosis.context import Cause, Context, origin_clause

__all__ = ["detect_load"]


def detect_load(context: Context) -> Cause | None:
    """Return the cause if the value was loaded from a file."""
    if context.origin is None or context.origin.kind != "loaded":
        return None
    is_mapped = has_map_location(call_at(context.origin.position))
    how = "with a map_location" if is_mapped else "without map_location"
    return Cause(
        "loaded-with-map-location" if is_mapped else "loaded-without-map-location",
        f"{context.name} was {origin_clause(context)} {how}, which put it on {context.device}; the other operands are"
        f" on {context.expected_device}.",
    )
