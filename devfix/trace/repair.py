"""Repair by running: a failure's story, the edits that an expert would try, and the run that tells whether one helps.

The search goes down one failure after the other.  An edit that lets the script run to its end is proved
(:meth:`devfix.verify.experiment.Experiment.prove`); one after which another value fails, later, is kept and the story
of the new failure is read; all others are dropped.  What is proved is made smaller where it can be.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from devfix.config import Settings
from devfix.model import Safety
from devfix.trace import progress
from devfix.trace.bounds import Bounds
from devfix.trace.candidates import Candidate, candidates
from devfix.trace.candidates.forgotten import built_later
from devfix.trace.candidates.learning import Word, vain_words, words_of
from devfix.trace.diagnosis import Diagnosis
from devfix.trace.smaller import without_each
from devfix.trace.texts import Texts
from devfix.verify.experiment import Experiment
from devfix.verify.judgement import Verdict
from devfix.verify.patches import changes_of, outcome_for, program_files
from devfix.verify.records import Run

__all__ = ["Budget", "Repair", "Step", "repair"]

#: Verdicts that another patch may change; the others say something of the script itself.
_OPEN = ("not-fixed", "loss-differs", "broken")

_MOST_REFUSED = 2
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


@dataclass(frozen=True)
class Step:
    """One edit, the failure that it is for, and the program that failed."""

    diagnosis: Diagnosis
    candidate: Candidate
    texts: Texts


@dataclass(frozen=True)
class Repair:
    """How a search ended.

    Attributes:
        steps: the edits that are kept, in order; empty where the script is not repaired.
        base: the patch that the search began with, if what is repaired stands on it; else nothing.
        changes: new contents of files, by their path within the project; ``base`` where nothing is repaired.
        verdict: on ``changes``; None where the script did not get so far.
        runs: how many runs on the accelerator it took, the one that failed and the one that is proved among them.
        diagnosis: of the failure that is left; None if none is.
        reason: why nothing was repaired; empty where it was.
        originals: what the files in ``changes`` held, but for those of ``base``.
        answered: a comment of the source answers for the failure that is left.

    """

    steps: tuple[Step, ...]
    base: Mapping[str, bytes]
    changes: Mapping[str, bytes]
    verdict: Verdict | None
    runs: int
    diagnosis: Diagnosis | None
    reason: str
    originals: Mapping[str, bytes] = field(default_factory=dict)
    answered: bool = False

    @property
    def repaired(self) -> bool:
        return self.verdict is not None and self.verdict.word == "fixed"


def repair(
    experiment: Experiment,
    changes: Mapping[str, bytes] | None = None,
    bounds: Bounds | None = None,
    budget: Budget = Budget(),
    tell: Callable[[str], None] = lambda _: None,
) -> Repair:
    """Look for edits after which the script runs on the accelerator and trains as it does without one.

    Args:
        experiment: the script, and where it runs.
        changes: a patch to begin with, such as that of the static rules.
        bounds: what is to be left alone; default: what the project's files say.
        budget: when to give up.
        tell: is given one line for each run.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    bounds = bounds or Bounds(experiment.project, Settings(root=str(experiment.project.root)))
    return _Search(experiment, bounds, budget, tell).run(dict(changes or {}))


@dataclass
class _Search:
    experiment: Experiment
    bounds: Bounds
    budget: Budget
    tell: Callable[[str], None]
    runs: int = 0
    started: float = field(default_factory=time.monotonic)
    seen: set[frozenset[tuple[str, bytes]]] = field(default_factory=set)
    proved_once: bool = False
    unprovable: bool = False  # a verdict said of the script itself that it proves nothing
    hopeless: set[object] = field(default_factory=set)
    vain: set[Word] = field(default_factory=set)  # devices that the program does not have where they were tried
    original: Run | None = None  # without any change
    fewest_forgotten: float = math.inf  # parameters that got a gradient and no optimizer held, of the runs that ended
    withheld: bool = False  # a candidate was left out, for a comment or for its file
    unsafe: str = ""  # why an unsafe edit that was not asked for would help
    best: tuple[Verdict, Mapping[str, bytes]] | None = None

    def run(self, changes: dict[str, bytes]) -> Repair:
        texts = Texts(self.experiment.project.root, changes)
        self.tell("running it as it is" if not changes else "running it with what reading repairs")
        first = self._traced(texts)
        if first.ok:
            verdict = self._proved(texts, first)
            found = self._trained(texts, first) if verdict.word == "no-error" and first.forgotten else None
            if found is not None:
                steps, after, verdict = found
                return Repair(steps, changes, after.changes, verdict, self.runs, None, "", after.originals)
            if verdict.word not in _OPEN or not changes:
                reason = "" if verdict.word == "fixed" else f"{verdict.word}: {verdict.reason}"
                return Repair((), changes, changes, verdict, self.runs, None, reason)
            return self.run({})  # what reading repairs is not right: begin without it
        if changes and not first.device_error:
            self._find_own_failure(texts, first)
        found = self._dared(texts, first) or self._follow(texts, first, ())
        if found is not None:
            steps, patched, verdict = found
            smallest = self._smallest(patched, changes)
            return Repair(steps, changes, smallest, verdict, self.runs, None, "", patched.originals)
        if changes and not self.unprovable and not self.unsafe:
            return self.run({})
        diagnosis = progress.diagnosis_of(first)
        best = self.best[0] if self.best else None
        answered = diagnosis is not None and self.bounds.answered(diagnosis, texts)
        reason = self._reason(first, diagnosis)
        return Repair((), changes, changes, best, self.runs, diagnosis, reason, answered=answered)

    def _dared(self, texts: Texts, first: Run) -> tuple[tuple[Step, ...], Texts, Verdict] | None:
        """What reading repairs with ``--unsafe-fixes`` only, where a run proves it; unasked, the search ends there."""
        if not first.device_error:
            return None
        project = self.experiment.project
        unsafe = changes_of(project, outcome_for(project, replace(self.bounds.settings, unsafe_fixes=True)))
        if not unsafe or frozenset(unsafe.items()) in self.seen or not all(map(self.bounds.holds, unsafe)):
            return None
        for path in unsafe:
            texts.content(path)  # what it held is kept
        dared = Texts(project.root, unsafe, texts.originals)
        self.tell("running it with the edits that reading is not sure of")
        run = self._traced(dared)
        verdict = self._proved(dared, run) if run.ok else None
        if verdict is None or verdict.word != "fixed":
            return None
        if self.bounds.settings.unsafe_fixes:
            return (), dared, verdict
        self.unsafe = "what repairs it changes more than the device, and a run proves it: --unsafe-fixes applies it"
        return None

    def _trained(self, texts: Texts, first: Run) -> tuple[tuple[Step, ...], Texts, Verdict] | None:
        """An optimizer that is built later, where the run went well and left parameters as they were."""
        root = self.experiment.project.root
        paths = [os.path.relpath(path, root) for path in program_files(self.experiment.project)]
        for diagnosis, candidate in itertools.islice(built_later(paths, texts), self.budget.tries):
            after = self._written(candidate, texts)
            if after is None or self._spent() or not self.bounds.allows(candidate, diagnosis, texts):
                continue
            self.tell(f"trying: {candidate.title}")
            run = self._traced(after)
            if run.ok and len(run.forgotten) < len(first.forgotten):
                verdict = self._proved(after, run)
                if verdict.word == "fixed":
                    return (Step(diagnosis, candidate, texts),), after, verdict
        return None

    def _traced(self, texts: Texts) -> Run:
        self.runs += 1
        self.seen.add(frozenset(texts.changes.items()))
        left = self.budget.seconds - (time.monotonic() - self.started)
        run = self.experiment.watched(texts.changes, max(left, _LEAST_SECONDS))
        if not texts.changes:
            self.original = run
        if run.ok:
            self.fewest_forgotten = min(self.fewest_forgotten, len(run.forgotten))
        return run

    def _proved(self, texts: Texts, run: Run) -> Verdict:
        self.tell("it runs; comparing what it trains")
        verdict = self._verdict(texts, run)
        if verdict.word != "fixed" and self.best is None:
            self.best = (verdict, texts.changes)
        self.unprovable = self.unprovable or verdict.word == "inconclusive"
        return verdict

    def _verdict(self, texts: Texts, run: Run) -> Verdict:
        """That of the proof, which takes the runs as they were made."""
        made = {"patched/device": run, **({"original/device": self.original} if self.original else {})}
        verdict = self.experiment.prove(texts.changes, made)
        if self.original is None and "original/device" in verdict.runs:
            self.runs += 1
        self.original, self.proved_once = verdict.runs.get("original/device", self.original), True
        return verdict

    def _find_own_failure(self, texts: Texts, run: Run) -> None:
        """Where the script fails without an accelerator too, nothing can be proved: one proof tells."""
        if self.proved_once:
            return
        verdict = self._verdict(texts, run)
        if verdict.word == "inconclusive":
            self.best, self.unprovable = (verdict, texts.changes), True

    def _spent(self) -> bool:
        return (
            self.unprovable
            or bool(self.unsafe)
            or self.runs >= self.budget.runs
            or time.monotonic() - self.started > self.budget.seconds
        )

    def _follow(
        self, texts: Texts, failed: Run, steps: tuple[Step, ...]
    ) -> tuple[tuple[Step, ...], Texts, Verdict] | None:
        """Repair the failure of a run and what fails after it; None if no candidate helps."""
        diagnosis = progress.diagnosis_of(failed)
        if (
            diagnosis is None
            or self._spent()
            or len(steps) == self.budget.depth
            or progress.place_of(diagnosis) in self.hopeless
        ):
            return None
        if self.bounds.ignored(diagnosis) or self.bounds.answered(diagnosis, texts):
            return None
        later: list[tuple[Texts, Run, Step]] = []
        refused = 0
        for candidate, after in self._candidates(diagnosis, texts):
            if self._spent():
                break
            self.tell(f"trying: {candidate.title}")
            run, step = self._traced(after), Step(diagnosis, candidate, texts)
            self.vain |= vain_words(candidate, texts, run)
            if run.ok:
                verdict = self._proved(after, run)
                if verdict.word == "fixed" and len(run.forgotten) <= self.fewest_forgotten:
                    return (*steps, step), after, verdict
                refused += 1
                if steps and refused == _MOST_REFUSED:
                    break  # what was edited before is to blame
            elif not run.device_error:
                self._find_own_failure(after, run)
            elif progress.got_further(failed, run, diagnosis):
                if progress.is_another(diagnosis, run):
                    found = self._follow(after, run, (*steps, step))
                    if found is not None:
                        return found
                else:
                    later.append((after, run, step))
        for after, run, step in later:
            if self._spent():
                break
            found = self._follow(after, run, (*steps, step))
            if found is not None:
                return found
        self.hopeless.add(progress.place_of(diagnosis))
        return None

    def _candidates(self, diagnosis: Diagnosis, texts: Texts) -> Iterator[tuple[Candidate, Texts]]:
        """The candidates that can be written and were not tried, with the program after each."""
        tried = 0
        for candidate in candidates(diagnosis, texts):
            if not self.bounds.allows(candidate, diagnosis, texts):
                self.withheld = True
                continue
            if candidate.safety is Safety.UNSAFE and not self.bounds.settings.unsafe_fixes:
                continue
            after = self._written(candidate, texts)
            if after is None or self.vain & set(words_of(candidate, texts)):
                continue
            tried += 1
            yield candidate, after
            if tried == self.budget.tries:
                return

    def _written(self, candidate: Candidate, texts: Texts) -> Texts | None:
        """The program after a candidate; None where it cannot be written, or was run before."""
        from codemods._rewrite import RewriteError

        try:
            after = texts.after(candidate.edits)
        except RewriteError:
            return None
        return None if frozenset(after.changes.items()) in self.seen else after

    def _smallest(self, texts: Texts, base: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The changes without those hunks of ours that nothing needs."""
        for smaller in without_each(texts, base):
            if self._spent():
                break
            self.tell("trying without one of the changes")
            run = self._traced(smaller)
            if run.ok and self._verdict(smaller, run).word == "fixed":
                return self._smallest(smaller, base)
        return texts.changes

    def _reason(self, first: Run, diagnosis: Diagnosis | None) -> str:
        if self.unsafe:
            return self.unsafe
        if self.unprovable and self.best is not None:
            return f"nothing can be proved: {self.best[0].reason}"
        if not first.device_error:
            return f"its run shows no device error: {first.outcome}"
        if diagnosis is None:
            return "it fails in no code of the project"
        if diagnosis.package is not None:
            return "installed packages are not edited, and no edit of the project that was tried helps"
        ignored = self.bounds.ignored(diagnosis)
        if ignored:
            return ignored
        if self._spent():
            return f"nothing helped within {self.runs} {'run' if self.runs == 1 else 'runs'}"
        if self.best is not None:
            return f"no edit that was tried helps; with the first after which it ran on: {self.best[0].reason}"
        if self.withheld:
            return "no edit helps outside of what comments and the configuration leave alone"
        return "no edit that was tried helps"
