"""Tensors: where they are created, bound, moved and placed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import Device, Origin, Pointer

__all__ = ["Binding", "DataSource", "DeviceAssignment", "Transfer"]


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

    ``source`` is the device of a moved tensor before the call.  ``moves_nothing`` says that
    the call moves a module without parameters and buffers, or what is named as a loss, which works on every machine.
    """

    point: ProgramPoint
    call: ast.Call
    device: Device
    latent: bool = False
    source: Device | None = None
    moves_nothing: bool = False
