"""Structural changes of modules: submodules attached after the module was moved."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import ACCELERATOR, Pointer
from devfix.analysis.observations import Operand
from devfix.fixes.modules.owners import parents_of

__all__ = ["StructuralChange", "structural_change", "weights_of"]


@dataclass(frozen=True, eq=False)
class StructuralChange:
    """A submodule that was attached to a module after the module had been moved.

    ``is_tensor``: it is a tensor, such as a buffer that a method replaces.
    """

    parent: Pointer
    attached: ProgramPoint
    moved: ProgramPoint
    is_tensor: bool = False


def weights_of(operand: Operand) -> list[Pointer]:
    """Return the modules that own the weights of an operand."""
    owners = [
        Pointer(origin.site_id)
        for origin in operand.origins
        if origin.kind in ("parameter", "buffer") and origin.site_id
    ]
    return [operand.module] if operand.module is not None else owners


def structural_change(point: ProgramPoint, part: Pointer) -> StructuralChange | None:
    """Return the change that left ``part`` on another device than the rest of its model; ``None`` if there is none."""
    state = point.state
    assert state is not None
    seen: set[int] = set()
    pending = [part.id]
    while pending:
        parents: list[int] = []
        for key in pending:
            if key in seen or not state.has(key):
                continue
            seen.add(key)
            obj = state.at(key)
            attached, moved_at = obj.attached_at if isinstance(obj, Module) else None, obj.last_moved_at
            holders = parents_of(state, key)
            new = set(holders) - _earlier_holders(attached, key) if attached is not None else set[int]()
            if (
                attached is not None
                and moved_at is not None
                and attached.time > moved_at.time
                and not new
                and _is_own_tensor(attached, key)
            ):
                return StructuralChange(Pointer(key), attached, moved_at, is_tensor=True)
            moves = [(moved.time, parent, moved) for parent in holders if (moved := state.at(parent).last_moved_at)]
            before = [each for each in moves if attached is not None and attached.time > each[0] and each[1] in new]
            if attached is not None and before:  # on several paths: the one that is written last
                _, parent, moved = max(before, key=lambda each: each[:2])
                return StructuralChange(Pointer(parent), attached, moved)
            parents += holders
        pending = parents
    return None


def _earlier_holders(attached: ProgramPoint, key: int) -> set[int]:
    """Return the modules that held the part before it was attached: ``self.head = model.head`` changes no ``model``."""
    state = attached.state
    return set(parents_of(state, key)) if state is not None and state.has(key) else set()


def _is_own_tensor(attached: ProgramPoint, key: int) -> bool:
    """Whether the module itself received a parameter or buffer while it was on the accelerator."""
    state = attached.state
    return state is not None and state.has(key) and ACCELERATOR in state.at(key).devices
