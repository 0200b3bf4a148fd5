"""Run a script once with provenance, and explain its device error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from devfix.trace.diagnosis.causes import Cause
from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose
from devfix.trace.diagnosis.non_tensor_causes import cause_without_values
from devfix.trace.failure_trace import FailureTrace
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.trace.repair.proposal import Proposal, propose
from devfix.trace.report_facts import ValueDescription, describe_values
from devfix.verify.experiment import Experiment
from devfix.verify.records import Run

__all__ = ["Trace", "trace"]


@dataclass(frozen=True)
class Trace:
    """The result of a traced run.

    Attributes:
        experiment: script, arguments, interpreter, device.
        run: the run.
        failure: its failure, with file paths relative to the current folder; None if it did not fail, or if no code of
            the project was on the stack.
        diagnosis: the cause with the values; None if no values conflicted.
        proposal: the edit, or the reason for which there is none; None without a device error.

    """

    experiment: Experiment
    run: Run
    failure: FailureTrace | None = None
    diagnosis: Diagnosis | None = None
    proposal: Proposal | None = None

    @property
    def exit_code(self) -> int:
        """1 if there was a device error, else 0."""
        return int(self.run.device_error)

    @cached_property
    def cause(self) -> Cause | None:
        """The cause; None without a device error, and without code of the project on the stack."""
        if self.diagnosis is not None:
            return self.diagnosis.cause
        return cause_without_values(self.failure) if self.failure is not None and self.run.device_error else None

    @cached_property
    def values(self) -> tuple[ValueDescription, ...]:
        """The conflicting values, the misplaced one first."""
        return describe_values(self.diagnosis) if self.diagnosis else ()

    @property
    def summary(self) -> str:
        """The run's outcome, in one sentence."""
        run = self.run
        if run.device_error and run.failure is not None:
            return f"{run.failure.type}: {run.failure.text.strip().splitlines()[0]}"
        if run.failure is not None:
            return f"No device error: {_outcome(run)} ended it."
        steps = f" after {run.steps} optimizer {'step' if run.steps == 1 else 'steps'}" if run.steps else ""
        losses = f", {len(run.losses)} {'loss' if len(run.losses) == 1 else 'losses'}" if run.losses else ""
        range_ = f" from {run.losses[0]:.6g} to {run.losses[-1]:.6g}" if len(run.losses) > 1 else ""
        return f"No device error: it {_outcome(run)}{steps}{losses}{range_}."


def trace(experiment: Experiment) -> Trace:
    """Run the script once, and return its device error with the cause and a proposed edit.

    Raises:
        devfix.verify.RunError: the run could not be made.

    """
    run = experiment.run_with_provenance()
    if not run.device_error:
        return Trace(experiment, run)
    failure = read_failure_trace(run, experiment.project.shown)
    return Trace(experiment, run, failure, diagnose(failure) if failure else None, propose(experiment, run))


def _outcome(run: Run) -> str:
    return f"was {run.outcome}" if run.stopped else run.outcome
