"""Checkpoints: calls of ``torch.load`` and the uses of their results."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import UNKNOWN_DEVICE

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import Device

__all__ = ["LoadUse", "Loading"]


@dataclass(frozen=True, eq=False)
class LoadUse:
    """One use of the result of ``torch.load``.

    Attributes:
        kind: ``module``, ``buffer`` (of a loss), ``optimizer``, ``state``, ``object``, ``moved``, ``array``,
            ``kept`` (in attributes), ``needs-cpu`` or ``tensor`` (an operand).
        point: program point of the use.
        on_accelerator: the other operand was on the accelerator.
        device: where the loaded value was.

    """

    kind: str
    point: ProgramPoint
    on_accelerator: bool
    device: Device = UNKNOWN_DEVICE


@dataclass(eq=False)
class Loading:
    """A call of ``torch.load`` and the uses of its result.

    Attributes:
        point: program point of the call.
        call: the call.
        is_mapped: the call has a ``map_location``.
        round_trip: the program has saved the file itself, so its tensors return to the devices they were saved from.
        latent: the program does not call this code.
        uses: the uses of the result.

    """

    point: ProgramPoint
    call: ast.Call
    is_mapped: bool
    round_trip: bool = False
    latent: bool = False
    uses: list[LoadUse] = field(default_factory=list)
