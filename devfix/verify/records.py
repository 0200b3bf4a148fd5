"""Records of runs: one run's result, its failure, and its optimizer steps."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from devfix.verify.outputs.collection import Outputs

__all__ = [
    "REAL_DEVICES",
    "Failure",
    "Phase",
    "Run",
    "RunError",
    "Steps",
    "describe_exit_code",
    "format_position",
    "signal_name",
]

#: Supported types of real devices.
REAL_DEVICES = ("cuda", "mps", "xpu", "npu")


#: What PyTorch's allocators add to a message: their own source line, and the number of the system's error.
_ALLOCATOR_NOISE = re.compile(r"\[enforce fail at [^\]]*\] [^:]*: | ?Error code \d+ \([^)]*\)$")


class RunError(Exception):
    """A run could not be made: no such script, no torch in the interpreter, or a project that is too large to copy."""


def format_position(file: str | None, line: int | None, place: tuple[int, int] | None) -> str:
    """Return ``file:line``, with ``place`` ``file:cell 3:2`` in a notebook, or the empty string without a file."""
    if place is not None:
        return f"{file}:cell {place[0]}:{place[1]}"
    return f"{file}:{line}" if file else ""


@dataclass(frozen=True)
class Failure:
    """The exception that ended a run.

    Attributes:
        type: the exception's class name.
        text: its message.
        family: family of the device error, by its message; None for any other error.
        file: the deepest file of the project in the traceback, relative to the project; None if there is none.
        line: line in that file, from 1.
        code: the source of that line.
        traceback: the whole traceback as text.
        place: in a notebook, the cell and the line in it, from 1; else None.

    """

    type: str
    text: str
    family: str | None
    file: str | None
    line: int | None
    code: str | None
    traceback: str
    place: tuple[int, int] | None = None

    @property
    def where(self) -> str:
        """Return ``file:line`` (``file:cell 3:2`` in a notebook), or the empty string."""
        return format_position(self.file, self.line, self.place)

    @property
    def summary(self) -> str:
        """Type, first line of the message and position, such as ``KeyError: 'lr' at train.py:7``."""
        text = _ALLOCATOR_NOISE.sub("", self.text.strip().split("\n")[0]).strip()
        if text.endswith(".") and not text.endswith(".."):
            text = text[:-1]
        message = f"{self.type}: {text}" if text else self.type
        return f"{message} at {self.where}" if self.where else message


def signal_name(exit_code: int) -> str:
    """Return the name of the signal of a negative exit code, such as ``SIGSEGV``."""
    try:
        return signal.Signals(-exit_code).name
    except ValueError:  # a real-time signal
        return f"signal {-exit_code}"


def describe_exit_code(exit_code: int) -> str:
    """Return how a process ended that did not succeed: its exit code, or the signal that killed it."""
    return f"ended with exit code {exit_code}" if exit_code > 0 else f"killed by {signal_name(exit_code)}"


class Steps(NamedTuple):
    """Consecutive steps of an optimizer or a scheduler with the same settings.

    ``groups`` holds the settings of each parameter group (``lr``, ``weight_decay`` ...), or of the scheduler.
    ``params`` is a digest of the shapes of the group's parameters.
    """

    name: str
    groups: tuple[Mapping[str, Any], ...]
    times: int


class Phase(NamedTuple):
    """Consecutive calls of modules in one mode, with the number of samples that they get.

    ``training`` is None for modules that compute the same in both modes.  ``results`` is a digest of what the calls
    without gradients return; empty with gradients, because the losses depend on the results.
    """

    training: bool | None
    gradients: bool
    calls: int
    samples: int
    results: str = ""


@dataclass(frozen=True)
class Run:
    """One execution of a script under the probe.

    Attributes:
        device: ``cpu``, ``sim``, ``unchecked`` or one of :data:`REAL_DEVICES`.
        failure: the exception that ended it; None if it ended by itself.
        exit_code: the script's exit code; negative for a signal.
        exit_where: position in the project that ended it with an exit code other than 0; may be empty.
        exit_message: the text of ``sys.exit("text")``; empty for an exit code.
        losses: the scalar root of each backward pass, in order, before loss scaling.
        steps: number of optimizer steps; without an optimizer, of manual updates.
        optimizers: class names of the optimizers that stepped, in the order of their first steps.
        parameters: number of tensors in the optimizers; without an optimizer, of tensors that are updated manually.
        forgotten: shapes of parameters that have a gradient but are in no optimizer.
        forgotten_keys: keys of these parameters, in the same order: a digest of their value and first gradient.
        gradients: shapes of all parameters with a gradient in the first steps, sorted.
        changed: number of optimized parameters whose value changed; None if no optimizer stepped.
        update: samples of these parameters' total update, in order: float32 as base64.
        trained_digest: SHA-256 of the optimized parameters with a gradient, in any order, frozen ones excluded.
        frozen: number of frozen parameters.
        recipe: the optimizers' and the schedulers' steps, with their settings.
        rest_of_recipe: SHA-256 of the steps beyond the recorded number; None if there are none.
        digest: SHA-256 of the ``parameters`` at the end; None if there are none.
        random: SHA-256 of the CPU's random state at the end.
        output: the end of its output, 64 kB at most.
        outputs: what it printed and the files that it wrote; those of its setup run included.
        wall: the script's wall time in seconds.
        memory_mb: its peak memory.
        gradient_norms: the norm of all gradients before each optimizer step; None if they are sparse.
        phases: consecutive calls of modules in one mode: training, with gradients, calls, samples.
        rest_of_phases: SHA-256 of the calls beyond the recorded number; None if there are none.
        module_states: for each of the last modules that were called, a digest of each of its tensors that is in no
            optimizer, at the end.
        returned: the values of the script's top-level calls.
        device_operations, all_operations: ATen calls on the accelerator, and in total.
        device_seedings: how often the script seeded the simulated accelerator's generator alone.
        matmul_precision: PyTorch's setting for products of matrices at the end, on a simulated accelerator.
        choices: number of choices from computed numbers without gradients, such as classes and tokens, on a simulated
            accelerator, and a digest of these numbers.
        kernel_choice: the settings in force at the end that choose between kernels, on a simulated accelerator.
        updates_on_cpu: how many parameters on the CPU optimizers updated, counted at each step.
        gradients_from_cpu: gradients that were copied from the CPU to the simulated accelerator.
        host_operations: ATen calls that a simulator without device checks ran on the accelerator, and whose results the
            script used on the CPU (:mod:`devfix.simulator.host_chains`).
        work: arithmetic on accelerators and on the CPU, by phase (:mod:`devfix.simulator.work`).
        backward: calls on accelerators and on the CPU, by operator of the backward passes.
        updates: calls on accelerators and on the CPU, by operator of the updates of parameters.
        evaluations: calls on accelerators and on the CPU, by operator of the calls of models without gradients.
        others: calls on accelerators and on the CPU, by operator of the other computations whose device is decided.
        decided_work: the work of ``others`` on accelerators and on the CPU.
        host_reads, host_returns: arrays and lists that calls of models made of floating-point tensors, and such tensors
            that they moved from the CPU to the simulated accelerator.
        replaced: a function of the recorder that the script replaced; None if it replaced none.
        unsupported: features that the simulator does not model and the script used.
        stopped: the reason for stopping it, as a sentence or ``time``; None if it ended by itself.
        ended_early: it was stopped after ``max_steps`` steps.
        exposed: resources that the kernel could not isolate: ``network``, ``files`` outside the scratch copy, and
            other ``processes``.
        left_out: files that were not copied because they may hold credentials, by their path within the project.
        withheld: an existing path in the failure's message that the run was not allowed to read; else None.
        has_report: the probe wrote its report; False if the script exited with ``os._exit`` or was killed.
        precision: the lowest precision used on a real accelerator.
        torch: PyTorch's version.
        held: it got the time of day and the random seeds of the other runs that are held.
        setup_device: device of the setup run; None if there was none.
        scratch: the scratch copy's folder if it was not deleted; else None.
        story: for a failed run with provenance, the values of the failing call and their origins
            (:func:`devfix.verify.probe.provenance.describe_failure`); else None.
        caught: for a run with provenance that no device error ended, the first device error that the script caught, or
            that ended one of its threads or forked processes; else None.
        caught_story: as ``story``, for ``caught``.
        caught_count: number of these device errors.
        caught_in: name of the forked process that raised it; empty if it was not raised in one.
        failed_children: for a run with provenance, name and exit code of the child processes that failed.
        map: for a run with ``device_map``, the device of every tensor after the first step, at the failure or at the
            end (:mod:`devfix.verify.probe.placement`); else None.
        timeline: for a run with ``timeline``, when tensors existed
            (:mod:`devfix.verify.probe.provenance.timeline_report`); else None.

    """

    device: str
    failure: Failure | None = None
    exit_code: int = 0
    exit_where: str = ""
    exit_message: str = ""
    losses: tuple[float, ...] = ()
    steps: int = 0
    optimizers: tuple[str, ...] = ()
    parameters: int = 0
    forgotten: tuple[tuple[int, ...], ...] = ()
    forgotten_keys: tuple[str, ...] = ()
    gradients: tuple[tuple[int, ...], ...] = ()
    changed: int | None = None
    update: str = ""
    trained_digest: str | None = None
    frozen: int = 0
    recipe: tuple[Steps, ...] = ()
    rest_of_recipe: str | None = None
    digest: str | None = None
    random: str | None = None
    output: str = ""
    outputs: Outputs = field(default_factory=Outputs, repr=False)
    wall: float = 0.0
    memory_mb: float = 0.0
    device_operations: int = 0
    all_operations: int = 0
    device_seedings: int = 0
    matmul_precision: str | None = None
    kernel_choice: tuple[str, ...] = ()
    choices: tuple[int, str] = (0, "")
    updates_on_cpu: int = 0
    gradients_from_cpu: int = 0
    host_operations: int = 0
    work: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    backward: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    updates: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    evaluations: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    others: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    decided_work: tuple[int, int] = (0, 0)
    host_reads: int = 0
    host_returns: int = 0
    gradient_norms: tuple[float | None, ...] = ()
    phases: tuple[Phase, ...] = ()
    rest_of_phases: str | None = None
    module_states: tuple[tuple[str, ...], ...] = ()
    returned: tuple[str, ...] = ()
    replaced: str | None = None
    unsupported: tuple[str, ...] = ()
    stopped: str | None = None
    ended_early: bool = False
    exposed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    withheld: str | None = None
    has_report: bool = True
    precision: str = "float32"
    torch: str = ""
    held: bool = False
    setup_device: str | None = None
    scratch: str | None = None
    story: Mapping[str, Any] | None = None
    caught: Failure | None = None
    caught_story: Mapping[str, Any] | None = None
    caught_count: int = 0
    caught_in: str = ""
    failed_children: tuple[tuple[str, int], ...] = ()
    map: Mapping[str, Any] | None = None
    timeline: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether the script completed (or reached ``max_steps``)."""
        return self.failure is None and self.exit_code == 0 and self.stopped is None and self.has_report

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped by the time limit."""
        return self.stopped == "time"

    @property
    def offline(self) -> bool:
        """Whether it ran without network access."""
        return "network" not in self.exposed

    @property
    def as_if_uncaught(self) -> Run:
        """The run as if it had ended with the device error that the script caught; itself if there is none."""
        if self.caught is None:
            return self
        return replace(self, failure=self.caught, story=self.caught_story, caught=None, caught_story=None)

    @property
    def device_error(self) -> bool:
        """Whether it failed with a device error."""
        return self.failure is not None and self.failure.family is not None

    @property
    def accelerator_share(self) -> float:
        """Fraction of the ATen calls that ran on the accelerator, 0 to 1."""
        return self.device_operations / self.all_operations if self.all_operations else 0.0

    @property
    def outcome(self) -> str:
        """Return one line that says how the run ended."""
        if self.stopped is not None:
            return f"stopped because {self.stopped}" if self.stopped != "time" else "stopped by the time limit"
        if self.failure is not None:
            return self.failure.summary
        if self.exit_code:
            ending = describe_exit_code(self.exit_code)
            return f"{ending} at {self.exit_where}" if self.exit_where else ending
        if not self.has_report:
            return "exited with code 0 before it finished"
        return "reached the step limit" if self.ended_early else "completed"
