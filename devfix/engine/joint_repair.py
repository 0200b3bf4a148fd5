"""The repair of several programs at once: fixes of different programs that hold together cost one scan of each.

Programs that share a file would else be scanned again for every edit of every one of them.  What does not hold together
is left to :mod:`devfix.engine.repair`, which takes one program after the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from devfix.engine.edit_trials import joined, objection_to_effect, objection_to_fix, repaired_along, write_edits
from devfix.engine.independent_fixes import IndependentFixes, Pair, suspects
from devfix.engine.outcome import Resolutions
from devfix.engine.programs import Programs
from devfix.engine.scan import Identity, Scan, identity
from devfix.model import Status

__all__ = ["repair_together"]

_MOST_TRIALS = 2  # without what the first one objects to

#: The fixes that are tried, by program.
_Wanted = dict[int, list[Pair]]


def repair_together(programs: Programs, collected: Resolutions) -> None:
    """Repair findings of programs that read each other's edited files, as far as their best fixes hold together."""
    wanted = _wanted(programs, collected)
    for numbers in _groups(programs, wanted):
        if len(numbers & wanted.keys()) > 1:
            _repair_group(programs, collected, sorted(numbers), {number: wanted.get(number, []) for number in numbers})


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


def _groups(programs: Programs, wanted: Mapping[int, Iterable[Pair]]) -> list[set[int]]:
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


def _repair_group(programs: Programs, collected: Resolutions, numbers: list[int], wanted: _Wanted) -> None:
    space = programs.space
    kept = dict(space.changed)
    for _ in range(_MOST_TRIALS):
        batch = list(
            {identity(finding): (finding, fix) for pairs in wanted.values() for finding, fix in pairs}.values()
        )
        if not batch or write_edits(space, joined(fix for _, fix in batch)):
            break
        readers = programs.readers(os.path.abspath(path) for _, fix in batch for path in fix.paths)
        scans = {number: programs.again(programs.scan(number)) for number in numbers if number in readers}
        refused = _refused(programs, collected, scans, wanted, batch)
        if not refused:
            _accept(programs, collected, scans, wanted)
            return
        space.changed = dict(kept)
        wanted = {n: [pair for pair in pairs if identity(pair[0]) not in refused] for n, pairs in wanted.items()}
    space.changed = kept


def _refused(
    programs: Programs, collected: Resolutions, scans: Mapping[int, Scan], wanted: _Wanted, batch: list[Pair]
) -> set[Identity]:
    """Return the findings whose fixes a program objects to."""
    refused: set[Identity] = set()
    for number, after in scans.items():
        before, pairs = programs.scan(number), wanted[number]
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
        for finding, fix in wanted[number]:
            collected.settle(finding, Status.FIXED, fix=fix)
            for other in repaired_along(programs.scan(number), after, fix):
                collected.settle(other, Status.FIXED, fix=fix)
    programs.keep(scans)
