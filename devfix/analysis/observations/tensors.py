"""Tensors: where they are created, bound, moved and placed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import Device, Origin, Pointer, Tensor

__all__ = ["Binding", "DataSource", "DeviceAssignment", "ListAppend", "RandomDraw", "Transfer"]


@dataclass(frozen=True, eq=False)
class DataSource:
    """The source of values with one ``site_id``: a loop over a loader, a call of ``next``, a factory.

    Attributes:
        kind: ``batch``, ``whole`` (an object that moves as a whole), ``encoding`` (of a tokenizer) or ``made`` (a
            created tensor).
        point: program point of the loop or call.
        loader: the iterated loader, if known.
        pinned: whether the loader pins memory; ``None`` if unknown.
        loader_site: program point of the loader's construction.

    """

    kind: str
    point: ProgramPoint
    loader: Pointer | None = None
    pinned: bool | None = None
    loader_site: ProgramPoint | None = None


@dataclass(frozen=True, eq=False)
class Binding:
    """A binding of a name or attribute to an item of a batch.

    Attributes:
        origin: the origin of the item.
        name: the bound name.
        kind: ``target`` of a loop, ``unpack`` of an assignment, ``assign`` from an expression, ``param`` or
            ``attribute``.
        point: program point of the binding.
        value: the assigned expression.

    """

    origin: Origin
    name: str
    kind: str
    point: ProgramPoint
    value: ast.expr | None = None


@dataclass(frozen=True, eq=False)
class Transfer:
    """A move of a batch item or a created tensor: ``x.to(device)``.

    Attributes:
        origin: the origin of the moved tensor.
        point: program point of the move.
        call: the move expression.
        device: kind of the target device.

    """

    origin: Origin
    point: ProgramPoint
    call: ast.Call
    device: str


@dataclass(frozen=True, eq=False)
class DeviceAssignment:
    """The first time that a call moves a value to ``device`` or creates it there.

    ``source`` is the device of a moved tensor before the call.
    """

    point: ProgramPoint
    call: ast.Call
    device: Device
    latent: bool = False
    source: Device | None = None


@dataclass(frozen=True, eq=False)
class ListAppend:
    """A tensor on the accelerator is appended to a list; ``expression`` is the tensor's expression."""

    point: ProgramPoint
    expression: ast.expr
    tensor: Tensor


@dataclass(frozen=True, eq=False)
class RandomDraw:
    """Random numbers are drawn from a generator on ``device`` for a tensor on ``wanted``.

    Attributes:
        kind: ``factory`` (``torch.randn``), ``method`` (``x.uniform_()``), ``split`` (``random_split``), ``loader`` or
            ``unknown`` (external code got the generator).
        point: program point of the draw.
        given: program point of the call with the generator as an argument.
        allocated_at: program point of the generator's construction; ``None`` for PyTorch's default generator.
        device: device of the generator.
        wanted: device of the tensor.
        latent: the program does not call this code.

    """

    kind: str
    point: ProgramPoint
    given: ProgramPoint
    allocated_at: ProgramPoint | None
    device: Device
    wanted: Device
    latent: bool = False
