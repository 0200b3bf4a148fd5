"""What a run establishes about the lines that move or place values, each by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import Device, Origin

__all__ = ["DeviceAssignment", "Dropped", "Flagged", "LeafMove", "Transfer", "Uncalled", "Wrapped"]


@dataclass(frozen=True, eq=False)
class Transfer:
    """A move of a batch item: ``x.to(device)``.  ``call`` is the expression."""

    origin: Origin
    point: ProgramPoint
    call: ast.Call
    device: str


@dataclass(frozen=True, eq=False)
class Dropped:
    """A move whose result nobody keeps.

    ``kind``: ``statement`` (``target`` is what was to be moved) or ``loop`` (``stmt`` moves the variable of ``loop``,
    and ``target`` holds the items).
    """

    kind: str
    point: ProgramPoint
    stmt: ast.stmt
    call: ast.Call
    target: ast.expr
    loop: ast.For | ast.AsyncFor | None = None


@dataclass(frozen=True, eq=False)
class Uncalled:
    """``x.cuda`` without parentheses."""

    point: ProgramPoint
    node: ast.Attribute
    latent: bool = False


@dataclass(frozen=True, eq=False)
class Flagged:
    """``x.cuda(True)``: a flag where the device is expected; ``module`` says that ``x`` is one, which takes no flag."""

    point: ProgramPoint
    call: ast.Call
    module: bool


@dataclass(frozen=True, eq=False)
class LeafMove:
    """A leaf that learns is copied to the accelerator: ``kind`` is ``parameter``, ``leaf`` (``made`` is the
    factory) or ``asked`` (``x.requires_grad_().to(device)``).

    ``uses`` are what is done with the copy that only works for leaves: ``attribute``, ``optimizer``, ``grad`` (which
    works for a copy, too, that was told to keep its gradient: ``retained``).
    """

    number: int
    kind: str
    point: ProgramPoint
    call: ast.Call
    made: ProgramPoint | None
    uses: dict[str, ProgramPoint] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class DeviceAssignment:
    """The first time that ``call`` sends a value to ``device``, or makes it there; ``came`` is where a tensor was."""

    point: ProgramPoint
    call: ast.Call
    device: Device
    latent: bool = False
    came: Device | None = None


@dataclass(frozen=True, eq=False)
class Wrapped:
    """``call`` puts a module that was moved to the accelerator into ``DataParallel`` with ``ids``, a literal list."""

    point: ProgramPoint
    call: ast.Call
    ids: ast.List
    moved: ProgramPoint
    latent: bool = False
