"""The timeline of a traced run: the stays of its values on devices, in the order of the run's events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devfix.trace.failure_trace import Package, Position
from devfix.trace.failure_trace_json import read_position
from devfix.trace.names import expression
from devfix.verify.records import Run

__all__ = ["FailureMark", "FirstUse", "Sample", "Stay", "Step", "Timeline", "read_timeline"]


@dataclass(frozen=True)
class FirstUse:
    """The first operation with a value as operand; ``index`` is the number of its event."""

    index: int
    time: float
    stack: tuple[Position, ...]


@dataclass(frozen=True)
class Stay:
    """A value on a device, from its creation or arrival until its memory is freed.

    Attributes:
        index: number of the event that began it.
        time: seconds since the script's start.
        end: when its memory was freed, and the number of the last event before; None if it existed at the end.
        kind: ``created``, ``loaded``, ``computed`` or ``moved``.
        operation: the operator, such as ``aten::zeros``, or the function, such as ``to``.
        device: the device.
        predecessors: numbers of the events that produced the operands; of a move, the source.
        shape, dtype: of the tensor.
        bytes: size of its memory.
        name: an expression that evaluated to it after the first step or at the end; None if there was none.
        by_module: whether the move of a module began it.
        from_loader: whether a data loader began it.
        first_use: None if no operation with a result of its own used it.
        stack: positions in the project, the innermost first; empty if no code of the project was on the stack.
        package: the position in an installed package, if one began it.

    """

    index: int
    time: float
    end: tuple[float, int] | None
    kind: str
    operation: str
    device: str
    predecessors: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    name: str | None
    by_module: bool
    from_loader: bool
    first_use: FirstUse | None
    stack: tuple[Position, ...]
    package: Package | None

    @property
    def label(self) -> str:
        """Its name, else the expression that began it, else the operation."""
        return self.name or (expression(self.stack[0]) if self.stack else "") or self.operation


@dataclass(frozen=True)
class Step:
    """An optimizer step, after the event ``index``."""

    number: int
    index: int
    time: float


@dataclass(frozen=True)
class Sample:
    """Bytes by device after the event ``index``.

    Attributes:
        stored: of values that were created, loaded or moved.
        computed: of values that were computed; None after the recorder stopped to record them.

    """

    index: int
    time: float
    stored: Mapping[str, int]
    computed: Mapping[str, int] | None


@dataclass(frozen=True)
class FailureMark:
    """The device error, after the event ``index``; ``operands`` are the numbers of the operands' last events."""

    index: int
    time: float
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Timeline:
    """The timeline of a run.

    Attributes:
        duration: seconds until the script's end.
        count: number of events of the run.
        omitted: number of values that were not recorded.
        stays: in order.
        steps, samples: in order.
        failure: the error that the trace explains; None if there was none.

    """

    duration: float
    count: int
    omitted: int
    stays: tuple[Stay, ...]
    steps: tuple[Step, ...]
    samples: tuple[Sample, ...]
    failure: FailureMark | None

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of all stays, the CPU first."""
        found = {stay.device for stay in self.stays}
        return tuple(sorted(found, key=lambda device: (device != "cpu", device)))


def read_timeline(run: Run, display_path: Callable[[str], str] | None = None) -> Timeline | None:
    """Return the timeline of a run.

    Args:
        run: the run.
        display_path: maps a path within the project to the path in the result; default: identity.

    Returns:
        The timeline; None if none was recorded, or if the run ended before it was written.

    """
    data = run.timeline
    if data is None:
        return None
    reader = _Reader(data["positions"], display_path or str)
    return Timeline(
        data["duration"],
        data["count"],
        data["omitted"],
        tuple(map(reader.stay, data["stays"])),
        tuple(Step(*each) for each in data["steps"]),
        tuple(Sample(*each) for each in data["samples"]),
        _failure(run, data),
    )


class _Reader:
    """Conversion of stays, whose chains are indices of positions."""

    def __init__(self, positions: Sequence[Mapping[str, Any]], display_path: Callable[[str], str]) -> None:
        self._raw = positions
        self._positions = [read_position(each, display_path) for each in positions]

    def stay(self, data: Mapping[str, Any]) -> Stay:
        """Return a stay."""
        end, use = data["end"], data["use"]
        return Stay(
            data["index"],
            data["time"],
            None if end is None else (end[0], end[1]),
            data["kind"],
            data["operation"],
            data["device"],
            tuple(data["from"]),
            tuple(data["shape"]),
            data["dtype"],
            data["bytes"],
            data["name"],
            data["module"],
            data["loader"],
            None if use is None else FirstUse(use["index"], use["time"], self._stack(use)),
            self._stack(data),
            self._package(data["foreign"]),
        )

    def _stack(self, data: Mapping[str, Any]) -> tuple[Position, ...]:
        return tuple(self._positions[each] for each in data["chain"])

    def _package(self, index: int | None) -> Package | None:
        if index is None:
            return None
        return Package(self._raw[index]["package"], self._raw[index]["version"], self._positions[index])


def _failure(run: Run, data: Mapping[str, Any]) -> FailureMark | None:
    failed = run.as_if_uncaught
    if failed.failure is None:
        return None
    story = failed.story
    if story is None or story.get("moment") is None:
        return FailureMark(data["count"], data["duration"], ())
    index, time = story["moment"]
    operands = tuple(value["history"][-1]["index"] for value in story["values"] if value["history"])
    return FailureMark(index, time, operands)
