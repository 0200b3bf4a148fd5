"""What follows from the outcomes of conditions that a path assumes: a value is one literal, or another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["MEMBER", "membership_key", "options_of", "outcome_of", "outcome_of_membership"]

#: What stands between the subject and the literals in the key of a comparison, and between these: no source has them.
MEMBER, _NEXT = " \x1d ", " \x1e "


def outcome_of(assumptions: Mapping[str, bool], key: str) -> bool | None:
    """Return the outcome of a condition that is assumed, or that follows from others; ``None`` if it is open."""
    known = assumptions.get(key)
    if known is not None or MEMBER not in key:
        return known
    return outcome_of_membership(assumptions, key.rpartition(MEMBER)[0], options_of(key))


def outcome_of_membership(assumptions: Mapping[str, bool], subject: str, options: frozenset[str]) -> bool | None:
    """Return whether a subject is one of the literals ``options``, as far as the assumptions tell."""
    possible: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    for key, holds in assumptions.items():
        if key.startswith(subject + MEMBER):
            known = options_of(key)
            if holds:
                possible = known if possible is None else possible & known
            else:
                excluded |= known
    if possible is not None:
        left = possible - excluded
        return True if left and left <= options else False if not left & options else None
    return False if options <= excluded else None


def membership_key(subject: str, options: Iterable[str]) -> str:
    """Return the key of a comparison of a subject with literals."""
    return f"{subject}{MEMBER}{_NEXT.join(sorted(options))}"


def options_of(key: str) -> frozenset[str]:
    """Return the literals in the key of a comparison."""
    return frozenset(key.rpartition(MEMBER)[2].split(_NEXT))
