"""What one run did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["REAL_DEVICES", "Failure", "Run", "RunError", "Steps"]

#: Types of real devices that a run can be made on.
REAL_DEVICES = ("cuda", "mps", "xpu")


class RunError(Exception):
    """The run could not be made at all: no such script, no torch in the interpreter, a project too large to copy."""


@dataclass(frozen=True)
class Failure:
    """The exception that ended a run.

    Attributes:
        type: the exception's class name.
        text: its message.
        family: which family of device errors the message belongs to; None if it is none.
        file: the deepest file of the project in the traceback, relative to the project; None if there is none.
        line: line in that file, from 1.
        code: the source of that line.
        traceback: the whole traceback as text.
        place: in a notebook the cell and the line in it, from 1; else None.

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
        """``file:line`` (``file:cell 3:2`` in a notebook), or the empty string."""
        if self.place is not None:
            return f"{self.file}:cell {self.place[0]}:{self.place[1]}"
        return f"{self.file}:{self.line}" if self.file else ""


class Steps(NamedTuple):
    """Steps of an optimizer or a scheduler that follow each other and have the same settings.

    ``groups`` holds the settings of each parameter group (``lr``, ``weight_decay`` ...); it is None for a scheduler.
    ``params`` is a digest of the shapes of the group's parameters.
    """

    name: str
    groups: tuple[Mapping[str, Any], ...] | None
    times: int


@dataclass(frozen=True)
class Run:
    """One execution of a script under the probe.

    Attributes:
        device: ``cpu``, ``sim``, ``unchecked`` or one of :data:`REAL_DEVICES`.
        failure: the exception that ended it; None if it ended by itself.
        exit_code: the script's exit code; negative for a signal.
        losses: the scalar root of each backward pass, in order, before loss scaling.
        steps: number of optimizer steps; without an optimizer, of updates by hand.
        optimizers: class names of the optimizers that stepped, in the order of their first steps.
        parameters: number of tensors that the optimizers hold; without one, that are updated by hand.
        forgotten: shapes of parameters that got a gradient and that no optimizer holds.
        forgotten_keys: which they are, in the same order: their value and first gradient as one word.
        gradients: shapes of all parameters that got a gradient in the first steps, sorted.
        changed: how many of the parameters that optimizers hold are not as they were; None where no optimizer stepped.
        update: some numbers of these parameters, each from its start to its end: float32 as base64, in order.
        trained_digest: SHA-256 of those that got a gradient, in any order, without those that were held still.
        still: how many were held still.
        recipe: the optimizers' and the schedulers' steps, with their settings.
        rest_of_recipe: SHA-256 of the steps that were too many to keep; None if there were none.
        digest: SHA-256 of the ``parameters`` at the end; None if there are none.
        random: SHA-256 of the CPU's random state at the end.
        output: the last 64 kB of what it printed.
        wall: seconds that the script took.
        memory_mb: its peak memory.
        device_operations, all_operations: ATen calls on the simulated device, and in all.
        device_training, all_training: the same of those that take part in training: steps of a backward pass, and
            calls that read or write a parameter.
        unsupported: features it used that the simulator does not model.
        stopped: why it was stopped before its end, as a sentence about it or ``time``; None if it was not.
        ended_early: it was stopped after the number of steps asked for.
        exposed: what the kernel did not let us take from it: ``network``, ``files`` outside its copy, ``processes`` of
            others.
        reported: it told how it ended; one that left by itself in the middle of it, or was killed, did not.
        precision: the lowest precision that a real accelerator computed with.
        torch: PyTorch's version.
        prepared_on: where the run that came first worked; None if none did.
        kept: the scratch folder, where it was kept; else None.
        story: of a run that failed under provenance, what is known about the values that met
            (:func:`devfix.verify.probe.provenance.tell`); else None.
        map: of a run that was asked for it, where everything lived after the first step, at the failure or at the end
            (:mod:`devfix.verify.probe.placement`); else None.

    """

    device: str
    failure: Failure | None = None
    exit_code: int = 0
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
    still: int = 0
    recipe: tuple[Steps, ...] = ()
    rest_of_recipe: str | None = None
    digest: str | None = None
    random: str | None = None
    output: str = ""
    wall: float = 0.0
    memory_mb: float = 0.0
    device_operations: int = 0
    all_operations: int = 0
    device_training: int = 0
    all_training: int = 0
    unsupported: tuple[str, ...] = ()
    stopped: str | None = None
    ended_early: bool = False
    exposed: tuple[str, ...] = ()
    reported: bool = True
    precision: str = "float32"
    torch: str = ""
    prepared_on: str | None = None
    kept: str | None = None
    story: Mapping[str, Any] | None = None
    map: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether the script ran to its end (or to the number of steps asked for)."""
        return self.failure is None and self.exit_code == 0 and self.stopped is None and self.reported

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped for time."""
        return self.stopped == "time"

    @property
    def offline(self) -> bool:
        """Whether it ran without network."""
        return "network" not in self.exposed

    @property
    def device_error(self) -> bool:
        """Whether it died of a device error."""
        return self.failure is not None and self.failure.family is not None

    @property
    def accelerator_share(self) -> float:
        """Part of the ATen calls that ran on the simulated device, 0 to 1."""
        return self.device_operations / self.all_operations if self.all_operations else 0.0

    @property
    def outcome(self) -> str:
        """One line: how it ended."""
        if self.stopped is not None:
            return f"stopped: {self.stopped}" if self.stopped != "time" else "stopped for time"
        if self.failure is not None:
            text = self.failure.text.strip().split("\n")[0]
            where = f" at {self.failure.where}" if self.failure.file else ""
            return f"{self.failure.type}: {text}{where}"
        if self.exit_code:
            name = f"signal {-self.exit_code}" if self.exit_code < 0 else f"exit code {self.exit_code}"
            return f"ended with {name}"
        if not self.reported:
            return "left without a word, with exit code 0"
        return "ran to the step limit" if self.ended_early else "ran to its end"
