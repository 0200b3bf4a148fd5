"""The cause of a value that came out of a file to the wrong device."""

from __future__ import annotations

from devfix.trace.call_syntax import call_at, takes_map_location
from devfix.trace.diagnosis.context import Case, Cause, made

__all__ = ["loaded"]


def loaded(case: Case) -> Cause | None:
    if case.born is None or case.born.kind != "loaded":
        return None
    mapped = takes_map_location(call_at(case.born.position))
    how = "with a map_location" if mapped else "without map_location"
    return Cause(
        "DEV302" if mapped else "DEV301",
        f"{case.name} was {made(case)} {how}, which put it on {case.here}, while {case.there} is where the rest is.",
    )
