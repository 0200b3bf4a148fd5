"""Joins of facts: what holds behind a branch if one path says one thing and the other another.

A field of a heap object declares its join as metadata: ``frozen: bool = field(default=False, metadata=EITHER)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from devfix.analysis.domain.values import Value, join

__all__ = ["EITHER", "ENTRIES", "LATEST", "LOWEST", "OPTIONS", "UNION", "equal_or", "join_entries", "join_options"]

JoinFunction = Callable[[Any, Any], Any]


def _either(one: bool, two: bool) -> bool:
    """Join a fact that counts if one path says so."""
    return one or two


def _union(one: frozenset[Any], two: frozenset[Any]) -> frozenset[Any]:
    """Join sets of possibilities."""
    return one | two


def _latest(one: Any, two: Any) -> Any:
    """Join program points: the later one, or the one that there is."""
    if one is None or two is None:
        return one if two is None else two
    return one if one.time >= two.time else two


def _lowest(one: Any, two: Any) -> Any:
    """Join numbers and positions that no two paths change: the lower one, or the one that there is."""
    if one is None or two is None:
        return one if two is None else two
    return min(one, two)


def equal_or(unknown: Any) -> dict[str, JoinFunction]:
    """Declare that a fact is what both paths say, and ``unknown`` if they say different things."""

    def joined(one: Any, two: Any) -> Any:
        return one if one == two else unknown

    return {"join": joined}


def join_options(one: Value | None, two: Value | None) -> Value | None:
    """Join values that need not be there."""
    if one is None or two is None:
        return one if two is None else two
    return join((one, two))


def join_entries(
    one: Mapping[str, Value], two: Mapping[str, Value], base: Mapping[str, Value] | None = None
) -> dict[str, Value]:
    """Join names or fields one by one; what one path lacks is taken from ``base``, or from the other path."""
    before = base or {}
    joined = {**two, **one}
    for name in joined:
        mine, theirs = one.get(name, before.get(name)), two.get(name, before.get(name))
        if mine is not None and theirs is not None and mine is not theirs:
            joined[name] = join((mine, theirs))
    return joined


EITHER = {"join": _either}
ENTRIES = {"join": join_entries}
LATEST = {"join": _latest}
LOWEST = {"join": _lowest}
OPTIONS = {"join": join_options}
UNION = {"join": _union}
