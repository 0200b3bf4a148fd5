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
from devfix.trace.timeline import Timeline, read_timeline
from devfix.verify.advice import describe_ending
from devfix.verify.experiment import Experiment
from devfix.verify.records import Failure, Run, describe_exit_code

__all__ = ["Trace", "trace"]


@dataclass(frozen=True)
class Trace:
    """The result of a traced run.

    Attributes:
        experiment: script, arguments, interpreter, device.
        run: the run.
        failure: its device error, with file paths relative to the current folder; None if there was none, or if no
            code of the project was on the stack.
        diagnosis: the cause with the values; None if no values conflicted.
        proposal: the edit, or the reason for which there is none; None without a device error.
        timeline: the stays of values on devices; None if they were not recorded.

    """

    experiment: Experiment
    run: Run
    failure: FailureTrace | None = None
    diagnosis: Diagnosis | None = None
    proposal: Proposal | None = None
    timeline: Timeline | None = None

    @property
    def device_error(self) -> Failure | None:
        """The device error that ended the run, or the first one that did not; None if none was raised."""
        return self.run.failure if self.run.device_error else self.run.caught

    @property
    def status(self) -> str:
        """``device-error``, ``no-device-error``, or ``unfinished``: the script or a child failed otherwise."""
        if self.device_error is not None:
            return "device-error"
        return "no-device-error" if self.run.ok and not self.run.failed_children else "unfinished"

    @property
    def exit_code(self) -> int:
        """0 no device error; 1 a device error; 2 unfinished."""
        return {"no-device-error": 0, "device-error": 1, "unfinished": 2}[self.status]

    @cached_property
    def cause(self) -> Cause | None:
        """The cause; None without a device error, and without code of the project on the stack."""
        if self.diagnosis is not None:
            return self.diagnosis.cause
        return cause_without_values(self.failure) if self.failure is not None else None

    @cached_property
    def values(self) -> tuple[ValueDescription, ...]:
        """The conflicting values, the misplaced one first."""
        return describe_values(self.diagnosis) if self.diagnosis else ()

    @property
    def summary(self) -> str:
        """The run's outcome, in one sentence."""
        run = self.run
        if self.device_error is not None:
            return f"{self.device_error.type}: {self.device_error.text.strip().splitlines()[0]}"
        if not run.ok:
            return f"The script did not finish: {describe_ending(run)}."
        if run.failed_children:
            return f"The script completed, but a child process failed: {_describe_children(run)}."
        steps = f" after {run.steps} optimizer {'step' if run.steps == 1 else 'steps'}" if run.steps else ""
        losses = f", {len(run.losses)} {'loss' if len(run.losses) == 1 else 'losses'}" if run.losses else ""
        range_ = f" from {run.losses[0]:.6g} to {run.losses[-1]:.6g}" if len(run.losses) > 1 else ""
        return f"No device error: the script {run.outcome}{steps}{losses}{range_}."

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the summary does not say: the end of a run that caught its error, and whether it used the device."""
        run = self.run
        if run.caught is not None:
            times = "" if run.caught_count < 2 else f"; {run.caught_count} device errors were raised in all"
            end = run.outcome if run.ok else f"did not finish: {describe_ending(run)}"
            where = f"the error was raised in {run.caught_in}; " if run.caught_in else ""
            return (f"{where}the script continued after this error and {end}{times}",)
        if run.ok and self.experiment.device != "cpu" and not run.device_operations:
            return ("no operation ran on the accelerator",)
        return ()


def trace(experiment: Experiment, *, timeline: bool = False) -> Trace:
    """Run the script once, and return its device error with the cause and a proposed edit.

    Args:
        experiment: the script.
        timeline: also record when values exist, on which device.

    Raises:
        devfix.verify.RunError: the run could not be made.

    """
    run = experiment.run_with_provenance(timeline=timeline)
    stays = read_timeline(run, experiment.project.shown)
    failed = run.as_if_uncaught
    if not failed.device_error:
        return Trace(experiment, run, timeline=stays)
    failure = read_failure_trace(failed, experiment.project.shown)
    proposal = propose(experiment, failed, is_caught=run.caught is not None)
    return Trace(experiment, run, failure, diagnose(failure) if failure else None, proposal, stays)


def _describe_children(run: Run) -> str:
    return ", ".join(f"{name} ({describe_exit_code(code)})" for name, code in run.failed_children)
