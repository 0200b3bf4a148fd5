"""Which hunks of a patch belong together: a reviewer takes suggestions one by one, and half of a repair is a new bug.

Hunks stand by themselves only where the engine, told to repair their findings and no others, makes them and nothing
else; all others are one part.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from devfix.engine.scan import identity
from devfix.model import FileChange, Finding, Outcome, Resolution, Status

__all__ = ["Hunk", "Part", "hunks", "lines_of", "parts_of"]

_MOST_TRIED = 20  # parts that are made one by one: each costs as much as the whole patch


@dataclass(frozen=True)
class Hunk:
    """Lines of a file that are replaced: ``old[a1:a2]`` by ``lines``, which are ``new[b1:b2]``."""

    path: str
    a1: int
    a2: int
    b1: int
    b2: int
    lines: tuple[str, ...]

    @property
    def place(self) -> tuple[str, int]:
        """File and first line, counted from 1: what tells it from the other hunks of a patch."""
        return self.path, self.a1 + 1

    @property
    def edit(self) -> tuple[str, int, int, tuple[str, ...]]:
        """What it does, wherever the lines before it have gone."""
        return self.path, self.a1, self.a2, self.lines

    def touches(self, other: Hunk) -> bool:
        """Whether both change the same lines, or lines that stand side by side."""
        return self.path == other.path and self.a1 <= other.a2 and other.a1 <= self.a2


#: Places of hunks that belong together.
Part = tuple[tuple[str, int], ...]


def lines_of(before: bytes, after: bytes) -> tuple[list[str], list[str], bool]:
    """The lines of two texts, and whether they are UTF-8; else each byte is a character."""
    try:
        texts, fits = (before.decode("utf-8"), after.decode("utf-8")), True
    except UnicodeDecodeError:
        texts, fits = (before.decode("latin-1"), after.decode("latin-1")), False
    old, new = (text.removesuffix("\n").split("\n") for text in texts)
    return old, new, fits


def hunks(path: str, before: bytes, after: bytes) -> list[Hunk]:
    """What a patch does to a file, in the order of its lines."""
    old, new, _ = lines_of(before, after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        Hunk(path, a1, a2, b1, b2, tuple(new[b1:b2])) for tag, a1, a2, b1, b2 in matcher.get_opcodes() if tag != "equal"
    ]


def parts_of(outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome]) -> tuple[Part, ...]:
    """The parts of a patch; each can be taken without the others.

    Args:
        outcome: findings and patch.
        again: what the engine would do without some findings.

    """
    whole = _of_patch(outcome.patch.files)
    together = (tuple(hunk.place for hunk in whole),)
    groups = _by_edits(item for item in outcome.resolutions if item.status is Status.FIXED)
    if len(whole) < 2 or not 2 <= len(groups) <= _MOST_TRIED:
        return together

    def alone(group: Sequence[Finding]) -> list[Hunk]:
        kept = set(map(identity, group))
        others = [item.finding for item in outcome.resolutions if identity(item.finding) not in kept]
        return _of_patch(again(others).patch.files)

    tried = [(group, alone(group)) for group in groups]
    joined = _joined(tried, whole)
    if len(joined) < len(tried):
        tried = [(group, alone(group)) for group in joined]
    made = [hunk.edit for _, found in tried for hunk in found]
    if sorted(made) != sorted(hunk.edit for hunk in whole):
        return together
    return tuple(tuple(hunk.place for hunk in found) for _, found in tried if found)


def _of_patch(changes: Iterable[FileChange]) -> list[Hunk]:
    return [hunk for each in changes for hunk in hunks(each.path.replace(os.sep, "/"), each.old, each.new)]


def _by_edits(fixed: Iterable[Resolution]) -> list[list[Finding]]:
    """Findings by the edits that they share."""
    groups: list[tuple[set[object], list[Finding]]] = []
    for item in fixed:
        edits: set[object] = set(item.fix.edits if item.fix is not None else ())
        findings = [item.finding]
        apart = []
        for known in groups:
            if edits.isdisjoint(known[0]):
                apart.append(known)
            else:
                edits |= known[0]
                findings = [*known[1], *findings]
        groups = [*apart, (edits, findings)]
    return [findings for _, findings in groups]


def _joined(tried: Sequence[tuple[list[Finding], list[Hunk]]], whole: Sequence[Hunk]) -> list[list[Finding]]:
    """The groups, as one where they have to do with the same hunk of the whole patch."""
    groups: list[tuple[set[Hunk], list[Finding]]] = []
    for findings, found in tried:
        mine = {hunk for hunk in whole if any(hunk.touches(each) for each in found)}
        apart = []
        for known in groups:
            if mine.isdisjoint(known[0]):
                apart.append(known)
            else:
                mine |= known[0]
                findings = [*known[1], *findings]
        groups = [*apart, (mine, findings)]
    return [findings for _, findings in groups]
