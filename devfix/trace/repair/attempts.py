"""Run the program during a repair: count runs, enforce the budget, and prove what ran to its end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from devfix.trace.repair.edited_sources import EditedSources
from devfix.verify.experiment import Experiment
from devfix.verify.records import Run
from devfix.verify.verdict import Verdict

__all__ = ["Attempts", "Budget"]

_MIN_SECONDS = 5.0  # for the last run


@dataclass(frozen=True)
class Budget:
    """The budget of a search; no run lasts longer than the remaining seconds.

    Attributes:
        runs: runs on the accelerator.
        seconds: seconds for the whole search.
        depth: consecutive failures.
        tries: candidates for each failure.

    """

    runs: int = 60
    seconds: float = 900.0
    depth: int = 10
    tries: int = 16


@dataclass
class Attempts:
    """The runs of a search and their results.

    Attributes:
        experiment: the script, and its device.
        budget: the limits of the search.
        report: called with one line for each run.
        runs: number of runs on the accelerator.
        started: time at which the search began.
        seen: the changes that were run.
        was_proved: whether a proof was made.
        is_unprovable: whether a verdict says that nothing can be proved about this script.
        original: the run without changes.
        min_forgotten: the smallest number of parameters with a gradient that no optimizer held, of the runs that ended.
        best: the first verdict other than ``fixed``, with its changes.

    """

    experiment: Experiment
    budget: Budget
    report: Callable[[str], None]
    runs: int = 0
    started: float = field(default_factory=time.monotonic)
    seen: set[frozenset[tuple[str, bytes]]] = field(default_factory=set)
    was_proved: bool = False
    is_unprovable: bool = False
    original: Run | None = None
    min_forgotten: float = math.inf
    best: tuple[Verdict, Mapping[str, bytes]] | None = None

    def is_spent(self) -> bool:
        """Return whether the search must end."""
        is_late = time.monotonic() - self.started > self.budget.seconds
        return self.is_unprovable or self.runs >= self.budget.runs or is_late

    def run(self, edited: EditedSources) -> Run:
        """Run a program on the accelerator with provenance."""
        self.runs += 1
        self.seen.add(frozenset(edited.changes.items()))
        remaining = self.budget.seconds - (time.monotonic() - self.started)
        run = self.experiment.run_with_provenance(edited.changes, max(remaining, _MIN_SECONDS))
        if not edited.changes:
            self.original = run
        if run.ok:
            self.min_forgotten = min(self.min_forgotten, len(run.forgotten))
        return run

    def prove(self, edited: EditedSources, run: Run) -> Verdict:
        """Return the verdict on a program that ran to its end; store the first one that is not ``fixed``."""
        self.report("it runs; comparing its training with the CPU's")
        verdict = self.verdict(edited, run)
        if verdict.status != "fixed" and self.best is None:
            self.best = (verdict, edited.changes)
        self.is_unprovable = self.is_unprovable or verdict.status == "inconclusive"
        return verdict

    def verdict(self, edited: EditedSources, run: Run) -> Verdict:
        """Return the proof's verdict, reusing the runs that were made."""
        runs = {"patched/device": run, **({"original/device": self.original} if self.original else {})}
        verdict = self.experiment.prove(edited.changes, runs)
        if self.original is None and "original/device" in verdict.runs:
            self.runs += 1
        self.original, self.was_proved = verdict.runs.get("original/device", self.original), True
        return verdict

    def check_provable(self, edited: EditedSources, run: Run) -> None:
        """Find out, once, whether the script fails without an accelerator, so that nothing can be proved."""
        if self.was_proved:
            return
        verdict = self.verdict(edited, run)
        if verdict.status == "inconclusive":
            self.best, self.is_unprovable = (verdict, edited.changes), True
