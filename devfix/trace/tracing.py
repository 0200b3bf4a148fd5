"""One run of a script that notes where values come from, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from devfix.trace.diagnosis.causes import Cause
from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose
from devfix.trace.diagnosis.non_tensor_causes import cause_without_values
from devfix.trace.repair.proposal import Proposal, propose
from devfix.trace.report_facts import Told, told_values
from devfix.trace.story import Story
from devfix.trace.story_json import read_story
from devfix.verify.experiment import Experiment
from devfix.verify.records import Run

__all__ = ["Trace", "trace"]


@dataclass(frozen=True)
class Trace:
    """What a run showed.

    Attributes:
        experiment: script, arguments, interpreter, device.
        run: the run.
        story: of its failure; None if it did not fail, or failed without any code of the project on the stack.  Files
            are named as from the current folder.
        diagnosis: the cause with the values; None where no values met.
        proposal: the edit, or why there is none; None where there was no device error.

    """

    experiment: Experiment
    run: Run
    story: Story | None = None
    diagnosis: Diagnosis | None = None
    proposal: Proposal | None = None

    @property
    def exit_code(self) -> int:
        """1 where there was a device error, else 0."""
        return int(self.run.device_error)

    @cached_property
    def cause(self) -> Cause | None:
        """Rule, sentence and package; None where there was no device error, or nothing is known of it."""
        if self.diagnosis is not None:
            return Cause(self.diagnosis.rule, self.diagnosis.cause, self.diagnosis.package)
        return cause_without_values(self.story) if self.story is not None and self.run.device_error else None

    @cached_property
    def values(self) -> tuple[Told, ...]:
        """The values that met, the culprit first."""
        return told_values(self.diagnosis) if self.diagnosis else ()

    @property
    def summary(self) -> str:
        """How it ended, in one sentence."""
        run = self.run
        if run.device_error and run.failure is not None:
            return f"{run.failure.type}: {run.failure.text.strip().splitlines()[0]}"
        if run.failure is not None:
            return f"No device error: {_ending(run)} ended it."
        steps = f" after {run.steps} optimizer {'step' if run.steps == 1 else 'steps'}" if run.steps else ""
        losses = f", {len(run.losses)} {'loss' if len(run.losses) == 1 else 'losses'}" if run.losses else ""
        range_ = f" from {run.losses[0]:.6g} to {run.losses[-1]:.6g}" if len(run.losses) > 1 else ""
        return f"No device error: it {_ending(run)}{steps}{losses}{range_}."


def trace(experiment: Experiment) -> Trace:
    """Run the script once, and tell what its failure comes from.

    Raises:
        devfix.verify.RunError: the run could not be made.

    """
    run = experiment.watched()
    if not run.device_error:
        return Trace(experiment, run)
    story = read_story(run, experiment.project.shown)
    return Trace(experiment, run, story, diagnose(story) if story else None, propose(experiment, run))


def _ending(run: Run) -> str:
    return f"was {run.outcome}" if run.stopped else run.outcome
