"""Chains: the links of one bug, each of which shows when the one before it is repaired.

The failure of the first link hides those behind it.  All links are repaired; if one of them cannot be, only the edits
stay after which nothing fails but operations that had failed before.
"""

from __future__ import annotations

from dataclasses import dataclass

from devfix.engine.edit_trials import Objection, Trial, fails_as_before, fresh_findings
from devfix.engine.scan import Scan, identity
from devfix.model import Finding, Fix

__all__ = ["Link", "follow"]

_MOST_LINKS = 6


@dataclass(frozen=True)
class Link:
    """A finding of a chain and the fix that repairs it."""

    finding: Finding
    fix: Fix


@dataclass(frozen=True)
class _Standing:
    """The texts and the scan after some links."""

    texts: dict[str, str]
    links: tuple[Link, ...]
    scan: Scan


def follow(trial: Trial, before: Scan, first: Link) -> tuple[list[Link], Scan] | None:
    """Repair a finding and the links that show behind it.

    Returns:
        The repaired links and the scan after them; ``None`` if no edit of the chain holds, and the texts are as before.

    """
    space = trial.programs.space
    start = _Standing(dict(space.changed), (), before)
    right, present, link = start, start, first
    while len(present.links) < _MOST_LINKS:
        result = trial.hold(present.scan, link.fix, [link.finding], since=before)
        if isinstance(result, Objection):
            break
        present = _Standing(dict(space.changed), (*present.links, link), result)
        fresh = fresh_findings(before, result)
        if not fresh or fails_as_before(before, result, fresh):
            right = present
        following = _next_link(trial, present, fresh)
        if following is None:
            break
        link = following
    space.changed = dict(right.texts)
    if not right.links:
        return None
    trial.others = trial.programs.others(trial.number)
    return list(right.links), right.scan


def _next_link(trial: Trial, standing: _Standing, fresh: list[Finding]) -> Link | None:
    """Return the next link that has a fix; ``None`` if none is left, or none can be repaired."""
    done = {identity(link.finding) for link in standing.links}
    for finding in fresh:
        fixes = trial.collected.usable(finding)
        if fixes and identity(finding) not in done and not trial.collected.left_out(finding):
            return Link(finding, fixes[0])
    return None
