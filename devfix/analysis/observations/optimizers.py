"""Optimizers: their steps, and those that are built too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint

__all__ = ["OptimizerHazard", "Step"]


@dataclass(frozen=True, eq=False)
class OptimizerHazard:
    """An optimizer that is built, or gets its state, before its parameters are moved or replaced.

    Attributes:
        kind: ``eager-state``, ``fused``, ``replaced``, ``state-loaded``, ``mapped`` (the state of a fused optimizer
            is loaded from the CPU) or ``harmless`` (the parameters keep their identity, and the state is created in
            the first step).
        optimizer: full name of the optimizer's class.
        built: program point of the construction.
        late: program point of the later move or replacement, or of the load from the CPU.
        step: program point of the step that fails or is ineffective.
        loaded: program point of ``load_state_dict``.
        latent: whether no program is seen to build the optimizer.

    """

    kind: str
    optimizer: str
    built: ProgramPoint
    late: ProgramPoint
    step: ProgramPoint
    loaded: ProgramPoint | None = None
    latent: bool = False


@dataclass(frozen=True, eq=False)
class Step:
    """A call of an optimizer's ``step``; ``modules`` are the ids of the modules whose parameters it updates."""

    point: ProgramPoint
    modules: tuple[int, ...]
