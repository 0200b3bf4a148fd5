"""Repair by running: a failure's story, the edits that an expert would try, and the run that tells whether one helps.

The search goes down one failure after the other.  An edit that lets the script run to its end is proved
(:meth:`devfix.verify.experiment.Experiment.prove`); one after which another value fails, later, is kept and the story
of the new failure is read; all others are dropped.  What is proved is made smaller where it can be.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from devfix.config import Settings
from devfix.model import Applicability
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair import progress
from devfix.trace.repair.attempts import Budget, Trials
from devfix.trace.repair.candidates import Candidate, candidates
from devfix.trace.repair.candidates.forgotten import built_later
from devfix.trace.repair.candidates.learning import Word, vain_words, words_of
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.repair.limits import Bounds
from devfix.trace.repair.minimize import without_each
from devfix.verify.experiment import Experiment
from devfix.verify.patches import changes_of, outcome_for, program_files
from devfix.verify.records import Run
from devfix.verify.verdict import Verdict

__all__ = ["Repair", "Step", "repair"]

#: Verdicts that another patch may change; the others say something of the script itself.
_OPEN = ("not-fixed", "loss-differs", "broken")

_MOST_REFUSED = 2


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
        return self.verdict is not None and self.verdict.status == "fixed"


def repair(
    experiment: Experiment,
    changes: Mapping[str, bytes] | None = None,
    bounds: Bounds | None = None,
    budget: Budget | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Repair:
    """Look for edits after which the script runs on the accelerator and trains as it does without one.

    Args:
        experiment: the script, and where it runs.
        changes: a patch to begin with, such as that of the static rules.
        bounds: what is to be left alone; default: what the project's files say.
        budget: when to give up; default: `Budget()`.
        tell: is given one line for each run.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    bounds = bounds or Bounds(experiment.project, Settings(root=str(experiment.project.root)))
    return _Search(Trials(experiment, budget or Budget(), tell), bounds).run(dict(changes or {}))


@dataclass
class _Search:
    trials: Trials
    bounds: Bounds
    hopeless: set[object] = field(default_factory=set)
    vain: set[Word] = field(default_factory=set)  # devices that the program does not have where they were tried
    withheld: bool = False  # a candidate was left out, for a comment or for its file
    unsafe: str = ""  # why an unsafe edit that was not asked for would help

    def spent(self) -> bool:
        return bool(self.unsafe) or self.trials.spent()

    def run(self, changes: dict[str, bytes]) -> Repair:
        texts = Texts(self.trials.experiment.project.root, changes)
        self.trials.tell("running it as it is" if not changes else "running it with what reading repairs")
        first = self.trials.traced(texts)
        if first.ok:
            verdict = self.trials.proved(texts, first)
            found = self._trained(texts, first) if verdict.status == "no-error" and first.forgotten else None
            if found is not None:
                steps, after, verdict = found
                return Repair(steps, changes, after.changes, verdict, self.trials.runs, None, "", after.originals)
            if verdict.status not in _OPEN or not changes:
                reason = "" if verdict.status == "fixed" else f"{verdict.status}: {verdict.reason}"
                return Repair((), changes, changes, verdict, self.trials.runs, None, reason)
            return self.run({})  # what reading repairs is not right: begin without it
        if changes and not first.device_error:
            self.trials.find_own_failure(texts, first)
        found = self._dared(texts, first) or self._follow(texts, first, ())
        if found is not None:
            steps, patched, verdict = found
            smallest = self._smallest(patched, changes)
            return Repair(steps, changes, smallest, verdict, self.trials.runs, None, "", patched.originals)
        if changes and not self.trials.unprovable and not self.unsafe:
            return self.run({})
        diagnosis = progress.diagnosis_of(first)
        best = self.trials.best[0] if self.trials.best else None
        answered = diagnosis is not None and self.bounds.answered(diagnosis, texts)
        reason = self._reason(first, diagnosis)
        return Repair((), changes, changes, best, self.trials.runs, diagnosis, reason, answered=answered)

    def _dared(self, texts: Texts, first: Run) -> tuple[tuple[Step, ...], Texts, Verdict] | None:
        """What reading repairs with ``--unsafe-fixes`` only, where a run proves it; unasked, the search ends there."""
        if not first.device_error:
            return None
        project = self.trials.experiment.project
        unsafe = changes_of(project, outcome_for(project, replace(self.bounds.settings, unsafe_fixes=True)))
        if not unsafe or frozenset(unsafe.items()) in self.trials.seen or not all(map(self.bounds.holds, unsafe)):
            return None
        for path in unsafe:
            texts.content(path)  # what it held is kept
        dared = Texts(project.root, unsafe, texts.originals)
        self.trials.tell("running it with the edits that reading is not sure of")
        run = self.trials.traced(dared)
        verdict = self.trials.proved(dared, run) if run.ok else None
        if verdict is None or verdict.status != "fixed":
            return None
        if self.bounds.settings.unsafe_fixes:
            return (), dared, verdict
        self.unsafe = "what repairs it changes more than the device, and a run proves it: --unsafe-fixes applies it"
        return None

    def _trained(self, texts: Texts, first: Run) -> tuple[tuple[Step, ...], Texts, Verdict] | None:
        """An optimizer that is built later, where the run went well and left parameters as they were."""
        root = self.trials.experiment.project.root
        paths = [os.path.relpath(path, root) for path in program_files(self.trials.experiment.project)]
        for diagnosis, candidate in itertools.islice(built_later(paths, texts), self.trials.budget.tries):
            after = self._written(candidate, texts)
            if after is None or self.spent() or not self.bounds.allows(candidate, diagnosis, texts):
                continue
            self.trials.tell(f"trying: {candidate.title}")
            run = self.trials.traced(after)
            if run.ok and len(run.forgotten) < len(first.forgotten):
                verdict = self.trials.proved(after, run)
                if verdict.status == "fixed":
                    return (Step(diagnosis, candidate, texts),), after, verdict
        return None

    def _follow(
        self, texts: Texts, failed: Run, steps: tuple[Step, ...]
    ) -> tuple[tuple[Step, ...], Texts, Verdict] | None:
        """Repair the failure of a run and what fails after it; None if no candidate helps."""
        diagnosis = progress.diagnosis_of(failed)
        if (
            diagnosis is None
            or self.spent()
            or len(steps) == self.trials.budget.depth
            or progress.place_of(diagnosis) in self.hopeless
        ):
            return None
        if self.bounds.ignored(diagnosis) or self.bounds.answered(diagnosis, texts):
            return None
        later: list[tuple[Texts, Run, Step]] = []
        refused = 0
        for candidate, after in self._candidates(diagnosis, texts):
            if self.spent():
                break
            self.trials.tell(f"trying: {candidate.title}")
            run, step = self.trials.traced(after), Step(diagnosis, candidate, texts)
            self.vain |= vain_words(candidate, texts, run)
            if run.ok:
                verdict = self.trials.proved(after, run)
                if verdict.status == "fixed" and len(run.forgotten) <= self.trials.fewest_forgotten:
                    return (*steps, step), after, verdict
                refused += 1
                if steps and refused == _MOST_REFUSED:
                    break  # what was edited before is to blame
            elif not run.device_error:
                self.trials.find_own_failure(after, run)
            elif progress.got_further(failed, run, diagnosis):
                if progress.is_another(diagnosis, run):
                    found = self._follow(after, run, (*steps, step))
                    if found is not None:
                        return found
                else:
                    later.append((after, run, step))
        for after, run, step in later:
            if self.spent():
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
            if candidate.applicability is Applicability.UNSAFE and not self.bounds.settings.unsafe_fixes:
                continue
            after = self._written(candidate, texts)
            if after is None or self.vain & set(words_of(candidate, texts)):
                continue
            tried += 1
            yield candidate, after
            if tried == self.trials.budget.tries:
                return

    def _written(self, candidate: Candidate, texts: Texts) -> Texts | None:
        """The program after a candidate; None where it cannot be written, or was run before."""
        from devfix.rewrite import RewriteError

        try:
            after = texts.after(candidate.edits)
        except RewriteError:
            return None
        return None if frozenset(after.changes.items()) in self.trials.seen else after

    def _smallest(self, texts: Texts, base: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The changes without those hunks of ours that nothing needs."""
        for smaller in without_each(texts, base):
            if self.spent():
                break
            self.trials.tell("trying without one of the changes")
            run = self.trials.traced(smaller)
            if run.ok and self.trials.verdict(smaller, run).status == "fixed":
                return self._smallest(smaller, base)
        return texts.changes

    def _reason(self, first: Run, diagnosis: Diagnosis | None) -> str:
        if self.unsafe:
            return self.unsafe
        if self.trials.unprovable and self.trials.best is not None:
            return f"nothing can be proved: {self.trials.best[0].reason}"
        if not first.device_error:
            return f"its run shows no device error: {first.outcome}"
        if diagnosis is None:
            return "it fails in no code of the project"
        if diagnosis.package is not None:
            return "installed packages are not edited, and no edit of the project that was tried helps"
        ignored = self.bounds.ignored(diagnosis)
        if ignored:
            return ignored
        if self.spent():
            return f"nothing helped within {self.trials.runs} {'run' if self.trials.runs == 1 else 'runs'}"
        if self.trials.best is not None:
            return f"no edit that was tried helps; with the first after which it ran on: {self.trials.best[0].reason}"
        if self.withheld:
            return "no edit helps outside of what comments and the configuration leave alone"
        return "no edit that was tried helps"
