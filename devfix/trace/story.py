"""What a run under provenance told of its failure, as frozen dataclasses (the JSON is the probe's).

Positions are those of the files as they were run: lines from 1; the columns of a span count bytes from 0, as Python
counts them (https://docs.python.org/3/reference/datamodel.html#codeobject.co_positions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "Above",
    "CallName",
    "Copy",
    "DeviceName",
    "Happening",
    "ModuleHappening",
    "Owner",
    "Package",
    "Position",
    "Story",
    "Value",
]


@dataclass(frozen=True)
class Position:
    """A place in the program: ``file`` within the project (or absolute), and what ran there.

    ``code`` is the line; ``span`` and ``text`` are those of the expression, where known.  ``place`` is the cell and the
    line in it, where the file is a notebook; ``line`` counts in its program.
    """

    file: str
    line: int
    function: str
    code: str
    span: tuple[int, int, int, int] | None = None
    text: str = ""
    place: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.place is None else f"{self.file}:cell {self.place[0]}:{self.place[1]}"


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
        """``file:line``, the file within the folder of installed packages."""
        file = re.split(r"[/\\](?:site|dist)-packages[/\\]", self.position.file)[-1]
        return f"{file}:{self.position.line}"


@dataclass(frozen=True)
class CallName:
    """What a frame of the failure calls a value: ``frame`` numbers :attr:`Story.frames`, the deepest is 0.

    ``exact`` is false for a name of something that shares its memory.  ``kind`` is ``tensor``, ``parameter``,
    ``buffer`` or ``state`` (of an optimizer).
    """

    frame: int
    text: str
    exact: bool
    kind: str


@dataclass(frozen=True)
class DeviceName:
    """An expression of frame ``frame`` whose value is a device, as PyTorch writes it; it may have no index."""

    frame: int
    text: str
    device: str

    def is_on(self, device: str) -> bool:
        """Whether it names a device, or its type's current one."""
        return self.device == device or self.device == device.split(":")[0]


@dataclass(frozen=True)
class ModuleHappening:
    """A module was ``moved`` (to ``device``) or ``attached`` (to a module of type ``parent``)."""

    kind: str
    device: str
    parent: str
    index: int
    chain: tuple[Position, ...]
    package: Package | None


@dataclass(frozen=True)
class Above:
    """A module that the owner is a part of, and the owner's path in it."""

    type: str
    path: str
    events: tuple[ModuleHappening, ...]


@dataclass(frozen=True)
class Owner:
    """The module that keeps a tensor.

    Attributes:
        type: its class name.
        attribute: under which name it keeps the tensor.
        kind: ``parameter``, ``buffer`` or ``attribute`` (a plain one, which the module does not move).
        events: what happened to it.
        above: the modules that it is a part of, the nearest first.
        container: where the outermost one is in a Python container and so not registered: the class that has the
            container, the attribute, and the container's type; else None.

    """

    type: str
    attribute: str
    kind: str
    events: tuple[ModuleHappening, ...]
    above: tuple[Above, ...]
    container: tuple[str, str, str] | None

    @property
    def last_move(self) -> ModuleHappening | None:
        """The last move of it or of what it is a part of."""
        moves = [event for events in (self.events, *(each.events for each in self.above)) for event in events]
        moves = [event for event in moves if event.kind == "moved"]
        return max(moves, key=lambda event: event.index, default=None)


@dataclass(frozen=True)
class Copy:
    """A transfer from a value.

    Its result is on ``device``, and was ``alive`` when the program failed; ``module``: a module was moved by it.
    """

    device: str
    chain: tuple[Position, ...]
    alive: bool
    module: bool


@dataclass(frozen=True)
class Happening:
    """Something that happened to a value.

    Attributes:
        kind: ``created``, ``loaded``, ``computed`` or ``moved``.
        operation: the operator, such as ``aten::zeros``, or the function, such as ``to`` or ``torch.load``.
        device: where the value was afterwards, as PyTorch writes devices.
        index: its number in the run.
        before: numbers of the events that it comes from.
        names: what the frames of the failure call its result.
        owner: the module that keeps its result.
        chain: positions in the project, the innermost first; empty if none of it was on the stack.
        package: where an installed package did it.
        loader: whether a data loader did it.
        copy: the last transfer *from* it, which left it where it was; None if there was none.

    """

    kind: str
    operation: str
    device: str
    index: int
    before: tuple[int, ...]
    names: tuple[CallName, ...]
    owner: Owner | None
    chain: tuple[Position, ...]
    package: Package | None
    loader: bool = False
    copy: Copy | None = None

    @property
    def position(self) -> Position | None:
        """The innermost position in the project."""
        return self.chain[0] if self.chain else None


@dataclass(frozen=True)
class Value:
    """A tensor that the failed call was given.

    ``role`` is the parameter that took it, ``history`` is oldest first, and ``inside`` is its name in the installed
    package in whose code it failed.
    """

    role: str
    names: tuple[CallName, ...]
    shape: tuple[int, ...]
    dtype: str
    device: str
    leaf: bool
    history: tuple[Happening, ...]
    inside: str | None = None

    @property
    def on_cpu(self) -> bool:
        return self.device == "cpu"

    @property
    def last(self) -> Happening | None:
        """The last thing that happened to it."""
        return self.history[-1] if self.history else None

    @property
    def owner(self) -> Owner | None:
        """The module that keeps it."""
        return self.last.owner if self.last else None

    def strand(self) -> tuple[Happening, ...]:
        """The events that brought it to its device, the oldest first: its last one and those before on that device.

        A transfer begins a strand, for what came before it was elsewhere.
        """
        by_index = {event.index: event for event in self.history}
        found: dict[int, Happening] = {}
        pending = [self.last] if self.last else []
        while pending:
            event = pending.pop()
            if event.index in found or event.device != self.device:
                continue
            found[event.index] = event
            if event.kind != "moved":
                pending.extend(by_index[index] for index in event.before if index in by_index)
        return tuple(found[index] for index in sorted(found))


@dataclass(frozen=True)
class Story:
    """What is known about a failure.

    Attributes:
        error: class name of the exception.
        message: its text.
        family: the family of device errors it belongs to; None if it is none.
        frames: positions in the project, the deepest first.
        package: the installed package in whose code it failed, if no code of the project ran inside of it.
        operation: the operator that raised, or None.
        function: the function of the torch API that raised, or None.
        values: the tensors that the call was given.
        homes: how many parameters of the program's modules live on each device.
        devices: what the frames call devices.

    """

    error: str
    message: str
    family: str | None
    frames: tuple[Position, ...]
    package: Package | None
    operation: str | None
    function: str | None
    values: tuple[Value, ...]
    homes: Mapping[str, int] = field(default_factory=dict)
    devices: tuple[DeviceName, ...] = ()

    @property
    def where(self) -> Position:
        """The deepest position in the project."""
        return self.frames[0]
