"""Repair by running: diagnose a failure, try candidate edits in order, and run the script with each.

The search is depth-first.  A candidate with which the script runs to its end is proved
(:meth:`devfix.verify.experiment.Experiment.prove`).  A candidate with which the script fails later, with another value,
is retained, and the new failure is diagnosed.  All others are dropped.  The proved patch is minimized.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from devfix.config import Settings
from devfix.model import Applicability
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair import progress
from devfix.trace.repair.attempts import Attempts, Budget
from devfix.trace.repair.candidates import Candidate, candidates
from devfix.trace.repair.candidates.forgotten import deferred_optimizers
from devfix.trace.repair.candidates.learning import DeviceExpression, device_expressions_in, failing_device_expressions
from devfix.trace.repair.edited_sources import EditedSources
from devfix.trace.repair.limits import Bounds
from devfix.trace.repair.minimize import without_each
from devfix.verify.advice import describe_ending
from devfix.verify.experiment import Experiment
from devfix.verify.patches import changes_of, outcome_for, program_files
from devfix.verify.records import Run
from devfix.verify.verdict import Verdict

__all__ = ["Repair", "Step", "repair"]

#: Verdicts that another patch may change; the others concern the script itself.
_RETRIED_VERDICTS = ("not-fixed", "loss-differs", "output-differs", "moved-to-cpu", "broken")

_MAX_NOT_FIXED = 2


@dataclass(frozen=True)
class Step:
    """One edit, the failure that it fixes, and the program that failed."""

    diagnosis: Diagnosis
    candidate: Candidate
    edited: EditedSources


@dataclass(frozen=True)
class Repair:
    """The result of a search.

    Attributes:
        steps: the edits, in order; empty if the script is not repaired.
        base: the patch that the search began with, if the repair includes it; else empty.
        changes: new contents of files, by path within the project; ``base`` if the script is not repaired.
        verdict: the verdict on ``changes``; None if the script did not run to its end.
        runs: number of runs on the accelerator, including the failed and the proved one.
        diagnosis: of the remaining failure; None if there is none.
        reason: the reason for which the script is not repaired; empty if it is.
        originals: original contents of the files in ``changes``, except those in ``base``.
        is_suppressed: whether a comment suppresses the remaining failure.

    """

    steps: tuple[Step, ...]
    base: Mapping[str, bytes]
    changes: Mapping[str, bytes]
    verdict: Verdict | None
    runs: int
    diagnosis: Diagnosis | None
    reason: str
    originals: Mapping[str, bytes] = field(default_factory=dict)
    is_suppressed: bool = False

    @property
    def repaired(self) -> bool:
        return self.verdict is not None and self.verdict.status == "fixed"


def repair(
    experiment: Experiment,
    changes: Mapping[str, bytes] | None = None,
    bounds: Bounds | None = None,
    budget: Budget | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Repair:
    """Search for edits with which the script runs on the accelerator and trains as it does on the CPU.

    Args:
        experiment: the script, and its device.
        changes: a patch to begin with, such as that of the static rules.
        bounds: the files and lines that may be edited; default: those that the project's files allow.
        budget: the limits of the search; default: ``Budget()``.
        report: called with one line for each run.

    Returns:
        The repair, or the remaining failure and the reason.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    bounds = bounds or Bounds(experiment.project, Settings(root=str(experiment.project.root)))
    return _Search(Attempts(experiment, budget or Budget(), report), bounds).run(dict(changes or {}))


@dataclass
class _Search:
    attempts: Attempts
    bounds: Bounds
    unrepairable: set[object] = field(default_factory=set)
    failing: set[DeviceExpression] = field(default_factory=set)  # device expressions that could not be evaluated
    has_excluded: bool = False  # a comment or a file's exclusion ruled out a candidate
    unsafe_reason: str = ""  # set if an unsafe fix is proved, and not enabled

    def is_spent(self) -> bool:
        return bool(self.unsafe_reason) or self.attempts.is_spent()

    def run(self, changes: dict[str, bytes]) -> Repair:
        edited = EditedSources(self.attempts.experiment.project.root, changes)
        self.attempts.report("running the original" if not changes else "running it with the fixes of the static rules")
        first = self.attempts.run(edited)
        if first.ok:
            verdict = self.attempts.prove(edited, first)
            found = self._fix_forgotten(edited, first) if verdict.status == "no-error" and first.forgotten else None
            if found is not None:
                steps, after, verdict = found
                return Repair(steps, changes, after.changes, verdict, self.attempts.runs, None, "", after.originals)
            if verdict.status not in _RETRIED_VERDICTS or not changes:
                reason = "" if verdict.status == "fixed" else f"{verdict.status}: {verdict.reason}"
                return Repair((), changes, changes, verdict, self.attempts.runs, None, reason)
            return self.run({})  # the static fixes are wrong: begin without them
        if changes and not first.device_error:
            self.attempts.check_provable(edited, first)
        found = self._try_unsafe_fixes(edited, first) or self._repair_failure(edited, first, ())
        if found is not None:
            steps, patched, verdict = found
            minimized = self._minimized(patched, changes)
            return Repair(steps, changes, minimized, verdict, self.attempts.runs, None, "", patched.originals)
        if changes and not self.attempts.is_unprovable and not self.unsafe_reason:
            return self.run({})
        diagnosis = progress.diagnosis_of(first)
        best = self.attempts.best[0] if self.attempts.best else None
        is_suppressed = diagnosis is not None and self.bounds.is_suppressed(diagnosis, edited)
        reason = self._reason(first, diagnosis)
        return Repair((), changes, changes, best, self.attempts.runs, diagnosis, reason, is_suppressed=is_suppressed)

    def _try_unsafe_fixes(
        self, edited: EditedSources, first: Run
    ) -> tuple[tuple[Step, ...], EditedSources, Verdict] | None:
        """Return the patch with unsafe static fixes if it is proved; the search ends if they are not enabled."""
        if not first.device_error:
            return None
        project = self.attempts.experiment.project
        unsafe = changes_of(project, outcome_for(project, self.bounds.settings, unsafe_fixes=True))
        if not unsafe or frozenset(unsafe.items()) in self.attempts.seen or not all(map(self.bounds.may_edit, unsafe)):
            return None
        for path in unsafe:
            edited.content(path)  # stores the original content
        with_unsafe = EditedSources(project.root, unsafe, edited.originals)
        self.attempts.report("running it with the unsafe fixes of the static rules")
        run = self.attempts.run(with_unsafe)
        verdict = self.attempts.prove(with_unsafe, run) if run.ok else None
        if verdict is None or verdict.status != "fixed":
            return None
        if self.bounds.settings.unsafe_fixes:
            return (), with_unsafe, verdict
        self.unsafe_reason = "a proved fix changes more than the device: --unsafe-fixes applies it"
        return None

    def _fix_forgotten(
        self, edited: EditedSources, first: Run
    ) -> tuple[tuple[Step, ...], EditedSources, Verdict] | None:
        """Return the patch that builds an optimizer later, if the run succeeded and left parameters untrained."""
        root = self.attempts.experiment.project.root
        paths = [os.path.relpath(path, root) for path in program_files(self.attempts.experiment.project)]
        for diagnosis, candidate in itertools.islice(deferred_optimizers(paths, edited), self.attempts.budget.tries):
            after = self._applied(candidate, edited)
            if after is None or self.is_spent() or not self.bounds.allows(candidate, diagnosis, edited):
                continue
            self.attempts.report(f"trying: {candidate.title}")
            run = self.attempts.run(after)
            if run.ok and len(run.forgotten) < len(first.forgotten):
                verdict = self.attempts.prove(after, run)
                if verdict.status == "fixed":
                    return (Step(diagnosis, candidate, edited),), after, verdict
        return None

    def _repair_failure(
        self, edited: EditedSources, failed: Run, steps: tuple[Step, ...]
    ) -> tuple[tuple[Step, ...], EditedSources, Verdict] | None:
        """Fix the failure of a run and the failures after it; None if no candidate helps."""
        diagnosis = progress.diagnosis_of(failed)
        if (
            diagnosis is None
            or self.is_spent()
            or len(steps) == self.attempts.budget.depth
            or progress.failure_key(diagnosis) in self.unrepairable
        ):
            return None
        if self.bounds.disabled_reason(diagnosis) or self.bounds.is_suppressed(diagnosis, edited):
            return None
        later: list[tuple[EditedSources, Run, Step]] = []
        not_fixed = 0
        for candidate, after in self._candidates(diagnosis, edited):
            if self.is_spent():
                break
            self.attempts.report(f"trying: {candidate.title}")
            run, step = self.attempts.run(after), Step(diagnosis, candidate, edited)
            self.failing |= failing_device_expressions(candidate, edited, run)
            if run.ok:
                verdict = self.attempts.prove(after, run)
                if verdict.status == "fixed" and len(run.forgotten) <= self.attempts.min_forgotten:
                    return (*steps, step), after, verdict
                not_fixed += 1
                if steps and not_fixed == _MAX_NOT_FIXED:
                    break  # an earlier edit is wrong
            elif not run.device_error:
                self.attempts.check_provable(after, run)
            elif progress.got_further(failed, run, diagnosis):
                if progress.is_different_failure(diagnosis, run):
                    found = self._repair_failure(after, run, (*steps, step))
                    if found is not None:
                        return found
                else:
                    later.append((after, run, step))
        for after, run, step in later:
            if self.is_spent():
                break
            found = self._repair_failure(after, run, (*steps, step))
            if found is not None:
                return found
        self.unrepairable.add(progress.failure_key(diagnosis))
        return None

    def _candidates(self, diagnosis: Diagnosis, edited: EditedSources) -> Iterator[tuple[Candidate, EditedSources]]:
        """Yield the candidates that can be applied and were not tried, with the edited program."""
        tried = 0
        for candidate in candidates(diagnosis, edited):
            if not self.bounds.allows(candidate, diagnosis, edited):
                self.has_excluded = True
                continue
            if candidate.applicability is Applicability.UNSAFE and not self.bounds.settings.unsafe_fixes:
                continue
            after = self._applied(candidate, edited)
            if after is None or self.failing & set(device_expressions_in(candidate, edited)):
                continue
            tried += 1
            yield candidate, after
            if tried == self.attempts.budget.tries:
                return

    def _applied(self, candidate: Candidate, edited: EditedSources) -> EditedSources | None:
        """Return the program after a candidate; None if the candidate cannot be applied, or was run before."""
        from devfix.rewrite import RewriteError

        try:
            after = edited.after(candidate.edits)
        except RewriteError:
            return None
        return None if frozenset(after.changes.items()) in self.attempts.seen else after

    def _minimized(self, edited: EditedSources, base: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """Return the changes without the hunks that the proof does not need."""
        for smaller in without_each(edited, base):
            if self.is_spent():
                break
            self.attempts.report("trying without one of the changes")
            run = self.attempts.run(smaller)
            if run.ok and self.attempts.verdict(smaller, run).status == "fixed":
                return self._minimized(smaller, base)
        return edited.changes

    def _reason(self, first: Run, diagnosis: Diagnosis | None) -> str:
        if self.unsafe_reason:
            return self.unsafe_reason
        if self.attempts.is_unprovable and self.attempts.best is not None:
            return f"nothing can be proved: {self.attempts.best[0].reason}"
        if not first.device_error:
            return _describe_run_without_error(first)
        if diagnosis is None:
            return "no code of the project was on the stack"
        if diagnosis.package is not None:
            return "installed packages are not edited, and no edit of the project helps"
        disabled = self.bounds.disabled_reason(diagnosis)
        if disabled:
            return disabled
        if self.is_spent():
            return f"no edit helped within {self.attempts.runs} {'run' if self.attempts.runs == 1 else 'runs'}"
        if self.attempts.best is not None:
            return f"no edit that was tried helps; of the first that ran to its end: {self.attempts.best[0].reason}"
        if self.has_excluded:
            return "no edit helps, except those that comments or the configuration exclude"
        return "no edit that was tried helps"


def _describe_run_without_error(run: Run) -> str:
    if run.ok:
        return f"its run shows no device error: {run.outcome}"
    # The search, too, limits the time of a run: --timeout may not help.
    return f"the script did not finish: {run.outcome if run.timed_out else describe_ending(run)}"
