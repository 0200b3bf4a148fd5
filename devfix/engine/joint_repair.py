"""The first trial of a repair: the best fixes of all programs at once.

Every program that reads an edited file is scanned once.  Programs that share a file would else be scanned again for
every edit of every one of them.  What does not hold together is left to :mod:`devfix.engine.repair`, which takes one
program after the other, and starts from the scans of this trial.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from devfix.engine.edit_trials import joined, objection_to_effect, objection_to_fix, repaired_along, write_edits
from devfix.engine.independent_fixes import IndependentFixes, Pair, suspects
from devfix.engine.outcome import Resolutions
from devfix.engine.programs import Programs
from devfix.engine.scan import Identity, Scan, identity
from devfix.model import Status

__all__ = ["repair_together"]

_MOST_TRIALS = 2  # the second one without what the first one objects to

#: The fixes that are tried, by program.
_Wanted = dict[int, list[Pair]]


def repair_together(programs: Programs, collected: Resolutions) -> None:
    """Repair findings as far as the best fixes of the programs that read each other's edited files hold together."""
    wanted = _wanted(programs, collected)
    for _ in range(_MOST_TRIALS):
        if wanted:
            wanted = _try(programs, collected, wanted)


def _wanted(programs: Programs, collected: Resolutions) -> _Wanted:
    """Return the best fixes of all findings that are independent of each other; of one finding, the first fix."""
    chosen = IndependentFixes(programs.space)
    known: dict[Identity, Pair | None] = {}
    wanted: _Wanted = {}
    for number in range(len(programs)):
        for finding in reversed(programs.scan(number).findings):  # statements moved after one line keep their order
            if not collected.open_to_repair(finding):
                continue
            if identity(finding) not in known:
                pair = finding, collected.usable(finding)[0]
                known[identity(finding)] = pair if chosen.add(*pair) else None
            found = known[identity(finding)]
            if found is not None:
                wanted.setdefault(number, []).append(found)
    return wanted


def _try(programs: Programs, collected: Resolutions, wanted: _Wanted) -> _Wanted:
    """Try the fixes of all groups of programs, keep those that hold; return what is worth another trial."""
    space = programs.space
    tried: list[tuple[set[int], list[Pair], dict[str, str]]] = []
    for group in _groups(programs, wanted):
        before = dict(space.changed)
        batch = list({identity(pair[0]): pair for number in sorted(group) for pair in wanted.get(number, ())}.values())
        if write_edits(space, joined(fix for _, fix in batch)):
            space.changed = before
        else:
            tried.append((group, batch, before))
    numbers = sorted({number for group, _, _ in tried for number in group})
    scans = dict(zip(numbers, programs.all_again([programs.scan(number) for number in numbers]), strict=True))
    left: _Wanted = {}
    for group, batch, before in tried:
        after = {number: scans[number] for number in sorted(group)}
        refused = _refused(programs, collected, after, wanted, batch)
        if not refused:
            _accept(programs, collected, after, wanted)
            continue
        for path in {os.path.abspath(path) for _, fix in batch for path in fix.paths}:
            _restore(space.changed, path, before)
        for number in group & wanted.keys():
            pairs = [pair for pair in wanted[number] if identity(pair[0]) not in refused]
            if pairs:
                left[number] = pairs
    return left


def _groups(programs: Programs, wanted: _Wanted) -> list[set[int]]:
    """Return the programs that an edit reaches, those together that read a common edited file."""
    edited = {os.path.abspath(path) for pairs in wanted.values() for _, fix in pairs for path in fix.paths}
    groups: list[set[int]] = []
    for path in sorted(edited):
        numbers = set(programs.readers([path]))
        apart = []
        for group in groups:
            if group.isdisjoint(numbers):
                apart.append(group)
            else:
                numbers |= group
        groups = [*apart, numbers]
    return groups


def _restore(changed: dict[str, str], path: str, before: Mapping[str, str]) -> None:
    """Take back the edits of a file."""
    if path in before:
        changed[path] = before[path]
    else:
        changed.pop(path, None)


def _refused(
    programs: Programs, collected: Resolutions, scans: Mapping[int, Scan], wanted: _Wanted, batch: list[Pair]
) -> set[Identity]:
    """Return the findings whose fixes a program objects to."""
    refused: set[Identity] = set()
    for number, after in scans.items():
        before, pairs = programs.scan(number), wanted.get(number, [])
        if pairs:
            findings, fix = [finding for finding, _ in pairs], joined(fix for _, fix in pairs)
            objection = objection_to_fix(collected, before, before, after, fix, findings)
        else:
            objection = objection_to_effect(before, after)
        if objection is not None:
            refused.update(identity(finding) for finding, _ in suspects(pairs or batch, objection))
    return refused


def _accept(programs: Programs, collected: Resolutions, scans: Mapping[int, Scan], wanted: _Wanted) -> None:
    for number, after in scans.items():
        for finding, fix in wanted.get(number, ()):
            collected.settle(finding, Status.FIXED, fix=fix)
            for other in repaired_along(programs.scan(number), after, fix):
                collected.settle(other, Status.FIXED, fix=fix)
    programs.keep(scans)
