"""The repair of one program: each finding with the first fix that holds, independent ones at once."""

from __future__ import annotations

from dataclasses import replace

from devfix.engine import chains
from devfix.engine.edit_trials import FAILS_INSTEAD, NEW_FINDING, Trial, joined, repaired_along
from devfix.engine.independent_fixes import IndependentFixes, Pair, suspects
from devfix.engine.outcome import Resolutions
from devfix.engine.programs import Programs
from devfix.engine.scan import Identity, Scan, identity
from devfix.model import Finding, Fix, Status

__all__ = ["MOST_ROUNDS", "attempt", "repair"]

MOST_ROUNDS = 60
_Repaired = tuple[list[Pair], Scan]


def repair(programs: Programs, number: int, collected: Resolutions) -> None:
    """Repair the findings of one program."""
    _Repair(Trial(programs, number, collected)).run()


class _Repair:
    """The repair of one program.

    Attributes:
        dropped: why the edit of a finding was reverted.
        tried_at: the number of repairs when it was.
        alone: findings whose edits do not hold together with others.

    """

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.collected = trial.collected
        self.original = {identity(each): each for each in trial.programs.scan(trial.number).findings}
        self.current = trial.programs.present(trial.number)
        self.dropped: dict[Identity, str] = {}
        self.tried_at: dict[Identity, int] = {}
        self.alone: set[Identity] = set()
        self.repaired = 0

    def run(self) -> None:
        """Repair until no finding is left, or none of those left can be repaired."""
        for _ in range(MOST_ROUNDS):
            waiting = self._waiting()
            if not waiting:
                apart = [f for f in self.current.findings if FAILS_INSTEAD in self.dropped.get(identity(f), "")]
                pair = self.trial.together(self.current, apart)
                if pair is None:
                    break
                self._accept(*pair)
                continue
            batch = self._independent(waiting)
            held = self._hold(batch) if len(batch) > 1 else None
            if held is not None:
                self._accept(*held)
                continue
            finding = waiting[-1]  # from the end: statements moved after one line keep their order
            result = attempt(self.trial, self.current, finding)
            if isinstance(result, str):
                self.dropped[identity(finding)], self.tried_at[identity(finding)] = result, self.repaired
            else:
                self._accept(*result)
        for finding in self.current.findings:
            if identity(finding) in self.dropped:
                shown = self.original.get(identity(finding), finding)
                self.collected.settle(shown, Status.NOT_FIXED, self.dropped[identity(finding)])
        self.collected.leave(f for f in self.current.findings if identity(f) not in self.dropped)

    def _waiting(self) -> list[Finding]:
        """Return the findings to try; a reverted edit may hold after others."""
        found = [
            f for f in self.current.findings if identity(f) not in self.dropped and self.collected.open_to_repair(f)
        ]
        again = [f for f in self.current.findings if self.tried_at.get(identity(f), self.repaired) < self.repaired]
        return found or again

    def _accept(self, fixes: list[Pair], after: Scan) -> None:
        """Record repaired findings, and continue with the scan after them."""
        self.trial.accept(after)
        self.repaired += len(fixes)
        for finding, fix in fixes:
            self.dropped.pop(identity(finding), None)
            shown = replace(self.original.get(identity(finding), finding), notes=finding.notes)
            self.collected.settle(shown, Status.FIXED, fix=fix)
            for other in repaired_along(self.current, after, fix):
                self.collected.settle(self.original.get(identity(other), other), Status.FIXED, fix=fix)
        self.current = after
        self.dropped = {key: reason for key, reason in self.dropped.items() if NEW_FINDING not in reason}  # retry

    # --- several at once --------------------------------------------------------------------------------------
    def _independent(self, waiting: list[Finding]) -> list[Pair]:
        """Return findings, from the end, whose best edits touch no line that another of them tells of."""
        chosen = IndependentFixes(self.trial.programs.space)
        for finding in reversed(waiting):
            fixes = self.collected.usable(finding)
            if fixes and identity(finding) not in self.alone and identity(finding) not in self.dropped:
                chosen.add(finding, fixes[0])
        return chosen.pairs

    def _hold(self, batch: list[Pair]) -> _Repaired | None:
        """Try edits together, without those that do not hold; ``None`` if fewer than two are left."""
        while len(batch) > 1:
            result = self.trial.hold(self.current, joined(fix for _, fix in batch), [finding for finding, _ in batch])
            if isinstance(result, Scan):
                return batch, result
            suspected = suspects(batch, result)
            self.alone.update(identity(finding) for finding, _ in suspected)
            batch = [each for each in batch if each not in suspected]
        return None


def attempt(trial: Trial, before: Scan, finding: Finding) -> _Repaired | str:
    """Try the fixes of a finding in order; return what was repaired and the scan after it, or the reason."""
    reason = ""
    fixes = trial.collected.usable(finding)
    opening: list[Fix] = []  # with new findings after them
    for fix in fixes:
        result = trial.hold(before, fix, (finding,))
        if isinstance(result, Scan):
            return [(finding, fix)], result
        reason = reason or result.reason
        if result.fresh:
            opening.append(fix)
    for fix in fixes[:1] if NEW_FINDING in reason else ():
        both = trial.with_what_follows(before, fix)
        after = trial.hold(before, both, (finding,)) if both is not None else None
        if both is not None and isinstance(after, Scan):
            return [(finding, both)], after
    for fix in opening:
        followed = chains.follow(trial, before, chains.Link(finding, fix))
        if followed is not None:
            return [(link.finding, link.fix) for link in followed[0]], followed[1]
    return reason or finding.reason
