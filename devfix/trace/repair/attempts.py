"""Runs of a program that is being repaired: what they take, what was run before, and what they prove."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from devfix.trace.repair.edited_sources import Texts
from devfix.verify.experiment import Experiment
from devfix.verify.records import Run
from devfix.verify.verdict import Verdict

__all__ = ["Budget", "Trials"]

_LEAST_SECONDS = 5.0  # for a run that was begun


@dataclass(frozen=True)
class Budget:
    """What a search may take: runs on the accelerator, seconds, failures that follow each other, tries for each.

    No run lasts longer than what is left of the seconds.
    """

    runs: int = 60
    seconds: float = 900.0
    depth: int = 10
    tries: int = 16


@dataclass
class Trials:
    """What was run, and what it came to.

    Attributes:
        experiment: the script, and where it runs.
        budget: when to give up.
        tell: is given one line for each run.
        runs: on the accelerator, so far.
        seen: the changes that were run.
        unprovable: a verdict said of the script itself that it proves nothing.
        original: the run without any change.
        fewest_forgotten: parameters that got a gradient and no optimizer held, of the runs that ended.
        best: the first verdict that is no proof, and the changes that it is about.

    """

    experiment: Experiment
    budget: Budget
    tell: Callable[[str], None]
    runs: int = 0
    started: float = field(default_factory=time.monotonic)
    seen: set[frozenset[tuple[str, bytes]]] = field(default_factory=set)
    proved_once: bool = False
    unprovable: bool = False
    original: Run | None = None
    fewest_forgotten: float = math.inf
    best: tuple[Verdict, Mapping[str, bytes]] | None = None

    def spent(self) -> bool:
        """Whether nothing more is to be run."""
        late = time.monotonic() - self.started > self.budget.seconds
        return self.unprovable or self.runs >= self.budget.runs or late

    def traced(self, texts: Texts) -> Run:
        """A run of a program on the accelerator, with the story of its failure."""
        self.runs += 1
        self.seen.add(frozenset(texts.changes.items()))
        left = self.budget.seconds - (time.monotonic() - self.started)
        run = self.experiment.watched(texts.changes, max(left, _LEAST_SECONDS))
        if not texts.changes:
            self.original = run
        if run.ok:
            self.fewest_forgotten = min(self.fewest_forgotten, len(run.forgotten))
        return run

    def proved(self, texts: Texts, run: Run) -> Verdict:
        """The verdict on a program that ran to its end; the first that is no proof is kept."""
        self.tell("it runs; comparing what it trains")
        verdict = self.verdict(texts, run)
        if verdict.status != "fixed" and self.best is None:
            self.best = (verdict, texts.changes)
        self.unprovable = self.unprovable or verdict.status == "inconclusive"
        return verdict

    def verdict(self, texts: Texts, run: Run) -> Verdict:
        """That of the proof, which takes the runs as they were made."""
        made = {"patched/device": run, **({"original/device": self.original} if self.original else {})}
        verdict = self.experiment.prove(texts.changes, made)
        if self.original is None and "original/device" in verdict.runs:
            self.runs += 1
        self.original, self.proved_once = verdict.runs.get("original/device", self.original), True
        return verdict

    def find_own_failure(self, texts: Texts, run: Run) -> None:
        """Where the script fails without an accelerator too, nothing can be proved: one proof tells."""
        if self.proved_once:
            return
        verdict = self.verdict(texts, run)
        if verdict.status == "inconclusive":
            self.best, self.unprovable = (verdict, texts.changes), True
