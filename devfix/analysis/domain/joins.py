"""Joins of facts: what holds behind a branch if one path says one thing and the other another.

A field of a heap object declares its join as metadata: ``frozen: bool = field(default=False, metadata=EITHER)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, is_
from typing import Any

from devfix.analysis.domain.values import Value, join

__all__ = [
    "EITHER",
    "ENTRIES",
    "LATEST",
    "LOWEST",
    "MADE_UNION",
    "OPTIONS",
    "UNION",
    "equal_or",
    "join_entries",
    "join_options",
]

JoinFunction = Callable[[Any, Any], Any]


def _either(one: bool, two: bool) -> bool:
    """Join a fact that counts if one path says so."""
    return one or two


def _union(one: frozenset[Any], two: frozenset[Any]) -> frozenset[Any]:
    """Join sets of possibilities; one that contains the other is returned itself, because there are many."""
    return one if two <= one else two if one <= two else one | two


def _made_union(one: frozenset[Any], two: frozenset[Any]) -> frozenset[Any]:
    """Join sets of possibilities to a new set, by whose identity a later reader knows the join."""
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


def _join_fields(one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
    """Join the fields of an object; a mapping that is the result already is returned itself, because there are many."""
    joined = one if one is two else join_entries(one, two)
    return next((known for known in (two, one) if _has_same_items(known, joined)), joined)


def _has_same_items(one: dict[str, Value], two: dict[str, Value]) -> bool:
    """Return whether two mappings have the same values, identical ones, under the same names in the same order."""
    return len(one) == len(two) and all(map(is_, one.values(), two.values())) and all(map(eq, one, two))


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
ENTRIES = {"join": _join_fields}
LATEST = {"join": _latest}
LOWEST = {"join": _lowest}
OPTIONS = {"join": join_options}
MADE_UNION = {"join": _made_union}
UNION = {"join": _union}
