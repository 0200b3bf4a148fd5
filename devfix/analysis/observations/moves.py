"""Moves without effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint

__all__ = ["BooleanDeviceArgument", "DiscardedMove", "LeafMove", "UncalledMove"]


@dataclass(frozen=True, eq=False)
class DiscardedMove:
    """A move whose result is discarded.

    Attributes:
        kind: ``statement`` (a move as an expression statement), or ``loop`` (a move of a loop variable that is not read
            afterwards).
        point: program point of the move.
        stmt: the statement that contains the move.
        call: the move expression.
        target: the unmoved value; for ``loop``, the iterated container.
        loop: the loop of a ``loop`` move.

    """

    kind: str
    point: ProgramPoint
    stmt: ast.stmt
    call: ast.Call
    target: ast.expr
    loop: ast.For | ast.AsyncFor | None = None


@dataclass(frozen=True, eq=False)
class UncalledMove:
    """A move method without call parentheses: ``x.cuda``."""

    point: ProgramPoint
    node: ast.Attribute
    latent: bool = False


@dataclass(frozen=True, eq=False)
class BooleanDeviceArgument:
    """A boolean in place of the device: ``x.cuda(True)``; ``module`` says whether ``x`` is a module."""

    point: ProgramPoint
    call: ast.Call
    module: bool


@dataclass(frozen=True, eq=False)
class LeafMove:
    """A copy of a leaf tensor that requires grad to the accelerator: the copy is not a leaf.

    Attributes:
        number: identifier, the ``site_id`` of the copy's origin.
        kind: ``parameter``, ``leaf`` (a factory with ``requires_grad=True``), or ``asked``
            (``x.requires_grad_().to(device)``).
        point: program point of the move.
        call: the move expression.
        made: program point of the factory, for ``leaf``.
        uses: first uses of the copy that require a leaf: ``attribute``, ``optimizer`` or ``grad``.  ``retained`` is a
            call of ``retain_grad()``, after which ``grad`` is valid.

    """

    number: int
    kind: str
    point: ProgramPoint
    call: ast.Call
    made: ProgramPoint | None
    uses: dict[str, ProgramPoint] = field(default_factory=dict)
