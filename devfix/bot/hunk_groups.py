"""Hunks of a patch that must be applied together.

A reviewer accepts suggestions one by one, and half of a fix is a new bug.  A hunk stands alone only if the engine,
restricted to its findings, produces that hunk and nothing else; all other hunks form one group.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from devfix.bot.patch import Hunk, diff, hunks
from devfix.engine.scan import identity
from devfix.model import FileChange, Finding, Outcome, Resolution, Status

__all__ = ["HunkGroup", "group_hunks"]

_MAX_GROUPS = 20  # each is repaired separately, at the cost of the whole patch


#: Positions of hunks that must be applied together.
HunkGroup = tuple[tuple[str, int], ...]


def group_hunks(outcome: Outcome, rerun: Callable[[Sequence[Finding]], Outcome]) -> tuple[HunkGroup, ...]:
    """Split a patch into groups of hunks that can be applied separately.

    Args:
        outcome: findings and patch.
        rerun: returns the outcome of the engine without some findings.

    Raises:
        BotError: the patch has more hunks than a review can show.

    """
    all_hunks = _patch_hunks(outcome.patch.files)
    single_group = (tuple(hunk.position for hunk in all_hunks),)
    groups = _share_edits(item for item in outcome.resolutions if item.status is Status.FIXED)
    if len(all_hunks) < 2 or not 2 <= len(groups) <= _MAX_GROUPS:
        return single_group

    def hunks_of(group: Sequence[Finding]) -> list[Hunk]:
        included = set(map(identity, group))
        excluded = [item.finding for item in outcome.resolutions if identity(item.finding) not in included]
        return _patch_hunks(rerun(excluded).patch.files)

    separate = [(group, hunks_of(group)) for group in groups]
    merged = _merge_touching(separate, all_hunks)
    if len(merged) < len(separate):
        separate = [(group, hunks_of(group)) for group in merged]
    edits = [hunk.edit for _, found in separate for hunk in found]
    if sorted(edits) != sorted(hunk.edit for hunk in all_hunks):
        return single_group
    return tuple(tuple(hunk.position for hunk in found) for _, found in separate if found)


def _patch_hunks(changes: Iterable[FileChange]) -> list[Hunk]:
    changed = list(changes)
    return hunks(diff(changed), {each.path.replace(os.sep, "/"): each.new for each in changed})


def _share_edits(fixed: Iterable[Resolution]) -> list[list[Finding]]:
    """Group findings whose fixes share an edit."""
    groups: list[tuple[set[object], list[Finding]]] = []
    for item in fixed:
        edits: set[object] = set(item.fix.edits if item.fix is not None else ())
        findings = [item.finding]
        disjoint = []
        for group in groups:
            if edits.isdisjoint(group[0]):
                disjoint.append(group)
            else:
                edits |= group[0]
                findings = [*group[1], *findings]
        groups = [*disjoint, (edits, findings)]
    return [findings for _, findings in groups]


def _merge_touching(
    separate: Sequence[tuple[list[Finding], list[Hunk]]], all_hunks: Sequence[Hunk]
) -> list[list[Finding]]:
    """Merge groups that touch the same hunk of the patch."""
    groups: list[tuple[set[Hunk], list[Finding]]] = []
    for findings, found in separate:
        touched = {hunk for hunk in all_hunks if any(hunk.touches(each) for each in found)}
        disjoint = []
        for group in groups:
            if touched.isdisjoint(group[0]):
                disjoint.append(group)
            else:
                touched |= group[0]
                findings = [*group[1], *findings]
        groups = [*disjoint, (touched, findings)]
    return [findings for _, findings in groups]
