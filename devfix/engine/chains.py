"""Chains: the links of one bug, each of which shows when the one before it is repaired.

A failure hides those behind it, and a value that is moved meets others that are not.  All links are repaired.  If one
cannot be, only those edits stay after which nothing fails but operations that had failed before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from devfix.engine.edit_trials import Objection, Trial, fresh_findings
from devfix.engine.failures import Failure, failed_before, is_hidden
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
    start = dict(space.changed)
    right = present = _Standing(start, (), before)
    link: Link | None = first
    while link is not None and len(present.links) < _MOST_LINKS:
        result = trial.hold(present.scan, link.fix, [link.finding], since=before)
        if isinstance(result, Objection):
            break
        present = _Standing(dict(space.changed), (*present.links, link), result)
        fresh = fresh_findings(before, result)
        if all(_failed_before(finding, present, before) for finding in fresh):
            right = present
        link = _next_link(trial, present, fresh, before)
    space.changed = dict(right.texts)
    if right.links and trial.objection_elsewhere() is not None:
        space.changed, right = start, _Standing(start, (), before)
    if not right.links:
        return None
    return _with_note(right.links, fresh_findings(before, right.scan)), right.scan


def _with_note(links: tuple[Link, ...], left: list[Finding]) -> list[Link]:
    """Note in the first finding how many links are left."""
    first, *others = links
    if not left:
        return [first, *others]
    places = ", ".join(dict.fromkeys(f"{each.path}:{each.span.line}" for each in left))
    told = f"{len(left)} more {'link' if len(left) == 1 else 'links'} of this bug: {places}"
    finding = replace(first.finding, notes=(*first.finding.notes, told))
    return [Link(finding, first.fix), *others]


def _failed_before(finding: Finding, standing: _Standing, before: Scan) -> bool:
    """Return whether a new finding tells of an operation that had failed before, for another reason.

    The edits have not only given the same cause another name.
    """
    failing = _failing(finding, standing.scan)
    repaired = [
        event for link in standing.links for event in link.finding.events if event.kind not in ("used", "called")
    ]
    known = {(event.path, event.line) for event in repaired}
    created = {(event.path, event.line) for event in repaired if event.kind == "created"}
    is_same = (finding.path, finding.span.line) in known and created <= {(e.path, e.line) for e in finding.events}
    return bool(failing) and not is_same and all(failed_before(failure, before.failures) for failure in failing)


def _failing(finding: Finding, scan: Scan) -> list[Failure]:
    """Return the failing operations that a finding tells of."""
    used = {(event.path, event.line) for event in finding.events if event.kind == "used"}
    return [failure for failure in scan.failures if (failure.path, failure.line) in used]


def _next_link(trial: Trial, standing: _Standing, fresh: list[Finding], before: Scan) -> Link | None:
    """Return the next link; ``None`` if none is left, or one of them cannot be repaired."""
    done = {identity(link.finding) for link in standing.links}
    links = []
    for finding in fresh:
        fixes = trial.collected.usable(finding)
        is_open = fixes and identity(finding) not in done and not trial.collected.left_out(finding)
        failing = _failing(finding, standing.scan)
        if not is_open or not failing:
            return None
        reads = [failure for failure in failing if failure.is_read]
        if not all(is_hidden(failure, before.failures, trial.programs.space.given_tree) for failure in reads):
            return None  # a value that the host has read by then is meant for the CPU
        links.append(Link(finding, fixes[0]))
    causes = {_cause(link.finding) for link in standing.links}
    if any(_cause(link.finding) in causes for link in links):
        return None  # the edit of this cause has not helped
    return links[0] if links else None


def _cause(finding: Finding) -> tuple[str, str, int, int]:
    """Return the rule and the place of a finding, whatever it says."""
    return finding.code, finding.path, finding.span.line, finding.span.column
