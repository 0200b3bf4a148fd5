"""Hunks of a patch that must be applied together.

A reviewer accepts suggestions one by one, and half of a fix is a new bug.  A hunk stands alone only if the engine,
restricted to its findings, produces that hunk and nothing else; all other hunks form one group.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from devfix.engine.scan import identity
from devfix.model import FileChange, Finding, Outcome, Resolution, Status

__all__ = ["Hunk", "HunkGroup", "decode_lines", "group_hunks", "hunks"]

_MAX_GROUPS = 20  # each is repaired separately, at the cost of the whole patch


@dataclass(frozen=True)
class Hunk:
    """A replacement of lines: ``old[a1:a2]`` by ``lines``, which are ``new[b1:b2]``."""

    path: str
    a1: int
    a2: int
    b1: int
    b2: int
    lines: tuple[str, ...]

    @property
    def position(self) -> tuple[str, int]:
        """File and first line, counted from 1: unique within a patch."""
        return self.path, self.a1 + 1

    @property
    def edit(self) -> tuple[str, int, int, tuple[str, ...]]:
        """The replacement without its position in the new file."""
        return self.path, self.a1, self.a2, self.lines

    def touches(self, other: Hunk) -> bool:
        """Whether both change the same or adjacent lines."""
        return self.path == other.path and self.a1 <= other.a2 and other.a1 <= self.a2


#: Positions of hunks that must be applied together.
HunkGroup = tuple[tuple[str, int], ...]


def decode_lines(before: bytes, after: bytes) -> tuple[list[str], list[str], bool]:
    """Return the lines of two texts, and whether both are UTF-8; otherwise each byte becomes one character."""
    try:
        texts, is_utf8 = (before.decode("utf-8"), after.decode("utf-8")), True
    except UnicodeDecodeError:
        texts, is_utf8 = (before.decode("latin-1"), after.decode("latin-1")), False
    old, new = (text.removesuffix("\n").split("\n") for text in texts)
    return old, new, is_utf8


def hunks(path: str, before: bytes, after: bytes) -> list[Hunk]:
    """Return the hunks of a file's change, in the order of lines."""
    old, new, _ = decode_lines(before, after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        Hunk(path, a1, a2, b1, b2, tuple(new[b1:b2])) for tag, a1, a2, b1, b2 in matcher.get_opcodes() if tag != "equal"
    ]


def group_hunks(outcome: Outcome, rerun: Callable[[Sequence[Finding]], Outcome]) -> tuple[HunkGroup, ...]:
    """Split a patch into groups of hunks that can be applied separately.

    Args:
        outcome: findings and patch.
        rerun: returns the outcome of the engine without some findings.

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
    return [hunk for each in changes for hunk in hunks(each.path.replace(os.sep, "/"), each.old, each.new)]


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
