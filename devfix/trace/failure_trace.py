"""The failure of a traced run: its frames, the tensors of the failing call, and each tensor's history.

:mod:`devfix.trace.failure_trace_json` reads these dataclasses from the probe's JSON.  Positions refer to the files as
they were run: lines count from 1; the columns of a span count bytes from 0, as in
https://docs.python.org/3/reference/datamodel.html#codeobject.co_positions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "Copy",
    "DefaultDevice",
    "DeviceName",
    "EnclosingModule",
    "FailureTrace",
    "Generator",
    "ModuleEvent",
    "Owner",
    "Package",
    "Position",
    "Value",
    "ValueEvent",
    "ValueName",
]


@dataclass(frozen=True)
class Position:
    """A line of the program, and the expression on it if known.

    Attributes:
        file: path within the project; absolute outside of it.
        line: line number.
        function: name of the function.
        code: text of the line.
        span: first line, first column, last line and last column of the expression.
        text: text of the expression; empty if unknown.
        cell: in a notebook, the number of the cell and the line in it; ``line`` then counts in the notebook's program.

    """

    file: str
    line: int
    function: str
    code: str
    span: tuple[int, int, int, int] | None = None
    text: str = ""
    cell: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.cell is None else f"{self.file}:cell {self.cell[0]}:{self.cell[1]}"


@dataclass(frozen=True)
class Package:
    """A position in an installed package."""

    name: str
    version: str | None
    position: Position

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name

    @property
    def where(self) -> str:
        """``file:line``, with the file's path within ``site-packages``."""
        file = re.split(r"[/\\](?:site|dist)-packages[/\\]", self.position.file)[-1]
        return f"{file}:{self.position.line}"


@dataclass(frozen=True)
class ValueName:
    """An expression that evaluates to a tensor in one frame of the failure.

    Attributes:
        frame: index in :attr:`FailureTrace.frames`; the deepest frame is 0.
        text: the expression.
        exact: false if the expression is another tensor on the same storage.
        kind: ``tensor``, ``parameter``, ``buffer`` or ``state`` (of an optimizer).

    """

    frame: int
    text: str
    exact: bool
    kind: str


@dataclass(frozen=True)
class DeviceName:
    """An expression that evaluates to a device in one frame of the failure; ``device`` may have no index."""

    frame: int
    text: str
    device: str

    def is_on(self, device: str) -> bool:
        """Return whether it is this device, or the current device of this type."""
        return self.device == device or self.device == device.split(":")[0]


@dataclass(frozen=True)
class ModuleEvent:
    """A module was ``moved`` (to ``device``) or ``attached`` (to a module of type ``parent``).

    ``stack`` and ``package`` are as in :class:`ValueEvent`.
    """

    kind: str
    device: str
    parent: str
    index: int
    stack: tuple[Position, ...]
    package: Package | None


@dataclass(frozen=True)
class EnclosingModule:
    """A module that contains the owner; ``path`` is the owner's path in it."""

    type: str
    path: str
    events: tuple[ModuleEvent, ...]


@dataclass(frozen=True)
class Owner:
    """The module that stores a tensor.

    Attributes:
        type: its class name.
        attribute: the attribute that holds the tensor.
        kind: ``parameter``, ``buffer`` or ``attribute`` (a plain one, which ``.to()`` does not move).
        events: moves and attachments of the module.
        enclosing: the modules that contain it, the nearest first.
        container: class, attribute and container type if the outermost module is in a Python container and so not
            registered; else None.

    """

    type: str
    attribute: str
    kind: str
    events: tuple[ModuleEvent, ...]
    enclosing: tuple[EnclosingModule, ...]
    container: tuple[str, str, str] | None

    @property
    def all_events(self) -> list[ModuleEvent]:
        """The events of the module and of those that contain it."""
        return [event for events in (self.events, *(each.events for each in self.enclosing)) for event in events]

    @property
    def last_move(self) -> ModuleEvent | None:
        """The last move of the module or of one that contains it."""
        moves = [event for event in self.all_events if event.kind == "moved"]
        return max(moves, key=lambda event: event.index, default=None)


@dataclass(frozen=True)
class Copy:
    """A transfer whose source is a tensor.

    Attributes:
        device: the copy's device.
        stack: positions in the project, the innermost first.
        is_alive: whether the copy still existed when the program failed.
        by_module: whether the transfer moved a module.

    """

    device: str
    stack: tuple[Position, ...]
    is_alive: bool
    by_module: bool


@dataclass(frozen=True)
class ValueEvent:
    """An event in the history of a tensor.

    Attributes:
        kind: ``created``, ``loaded``, ``computed`` or ``moved``.
        operation: the operator, such as ``aten::zeros``, or the function, such as ``to`` or ``torch.load``.
        device: the result's device, as PyTorch writes it.
        index: sequence number in the run.
        predecessors: sequence numbers of the events that produced the inputs.
        names: expressions for the result in the frames of the failure.
        owner: the module that stores the result.
        stack: positions in the project, the innermost first; empty if no code of the project was on the stack.
        package: the position in an installed package, if one caused the event.
        from_loader: whether a data loader caused the event.
        copy: the last transfer *from* the result, which left the result on its device; None if there was none.

    """

    kind: str
    operation: str
    device: str
    index: int
    predecessors: tuple[int, ...]
    names: tuple[ValueName, ...]
    owner: Owner | None
    stack: tuple[Position, ...]
    package: Package | None
    from_loader: bool = False
    copy: Copy | None = None

    @property
    def position(self) -> Position | None:
        """The innermost position in the project."""
        return self.stack[0] if self.stack else None


@dataclass(frozen=True)
class Value:
    """A tensor argument of the failed call.

    Attributes:
        role: name of the parameter that takes it.
        names: expressions for it in the frames of the failure.
        shape: its shape.
        dtype: its data type.
        device: its device.
        is_leaf: whether it is a leaf of the autograd graph.
        history: its events, the oldest first.
        name_in_package: its name in the installed package whose code failed.

    """

    role: str
    names: tuple[ValueName, ...]
    shape: tuple[int, ...]
    dtype: str
    device: str
    is_leaf: bool
    history: tuple[ValueEvent, ...]
    name_in_package: str | None = None

    @property
    def on_cpu(self) -> bool:
        return self.device == "cpu"

    @property
    def last(self) -> ValueEvent | None:
        """The last event of its history."""
        return self.history[-1] if self.history else None

    @property
    def owner(self) -> Owner | None:
        """The module that stores it."""
        return self.last.owner if self.last else None

    def device_history(self) -> tuple[ValueEvent, ...]:
        """Return the last event and the events on the same device that lead to it, the oldest first.

        A transfer begins the sequence, because its source is on another device.
        """
        by_index = {event.index: event for event in self.history}
        found: dict[int, ValueEvent] = {}
        pending = [self.last] if self.last else []
        while pending:
            event = pending.pop()
            if event.index in found or event.device != self.device:
                continue
            found[event.index] = event
            if event.kind != "moved":
                pending.extend(by_index[index] for index in event.predecessors if index in by_index)
        return tuple(found[index] for index in sorted(found))


@dataclass(frozen=True)
class Generator:
    """The random number generator of the failed call.

    Attributes:
        names: expressions for it in the frames of the failure.
        device: its device.
        stack: the call that created it: positions in the project, the innermost first; empty if unknown.

    """

    names: tuple[ValueName, ...]
    device: str
    stack: tuple[Position, ...]


@dataclass(frozen=True)
class DefaultDevice:
    """The last call of ``torch.set_default_device``.

    Attributes:
        device: its argument.
        index: sequence number in the run.
        stack: positions in the project, the innermost first.

    """

    device: str
    index: int
    stack: tuple[Position, ...]


@dataclass(frozen=True)
class FailureTrace:
    """The failure of a traced run.

    Attributes:
        error: class name of the exception.
        message: text of the exception.
        family: the message's family of device errors; None for other errors.
        frames: positions in the project, the deepest first.
        package: the installed package whose code failed, if no code of the project ran inside of it.
        operation: the operator that raised, or None.
        function: the function of the torch API that raised, or None.
        values: the tensor arguments of the failed call.
        parameter_counts: number of parameters of the program's modules by device.
        devices: expressions for devices in the frames.
        generator: the random number generator of the failed call.
        default_device: the default device that the program has set.

    """

    error: str
    message: str
    family: str | None
    frames: tuple[Position, ...]
    package: Package | None
    operation: str | None
    function: str | None
    values: tuple[Value, ...]
    parameter_counts: Mapping[str, int] = field(default_factory=dict)
    devices: tuple[DeviceName, ...] = ()
    generator: Generator | None = None
    default_device: DefaultDevice | None = None

    @property
    def where(self) -> Position:
        """The deepest position in the project."""
        return self.frames[0]
