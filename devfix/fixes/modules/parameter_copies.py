"""Copies of parameters, and state with their shape, created before the move of the model: create them after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Pointer
from devfix.analysis.observations import DeviceMismatch, Operand, OptimizerHazard, ParameterCopy
from devfix.fixes.reorder_after_move import constructed_after
from devfix.fixes.tensors.tensor_creation import FactoryCall
from devfix.model import Edit

__all__ = ["create_like_parameter", "early_copies", "early_copy"]


def early_copies(observations: Observations) -> Iterator[OptimizerHazard]:
    """Yield copies that fail because only their parameters were moved, and that can be created after the move."""
    if not observations.parameter_copies:
        return
    late = {id(hazard.late.stmt) for hazard in observations.hazards if hazard.kind == "eager-state"}
    reported: set[ParameterCopy] = set()
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            found = early_copy(observations, mismatch, operand)
            if found is not None and found[0] not in reported and id(found[1].stmt) not in late:
                copy, moved = found
                reported.add(copy)
                if constructed_after(observations, copy.point, moved)[0] is not None:
                    yield OptimizerHazard("copied", _target_name(copy.point), copy.point, moved, mismatch.point)


def early_copy(
    observations: Observations, mismatch: DeviceMismatch, operand: Operand
) -> tuple[ParameterCopy, ProgramPoint] | None:
    """Return the parameter copy that a CPU operand is, and the later move of its model; ``None`` if it is not one."""
    state = mismatch.point.state
    if state is None or not operand.is_certain or {origin.kind for origin in operand.origins} != {"parameter"}:
        return None
    module_ids = {origin.site_id for origin in operand.origins}
    found = [copy for copy in observations.parameter_copies.values() if copy.module.id in module_ids]
    for copy in found:
        moved = _move_between(copy.module, copy.point, mismatch)
        if moved is not None:
            return copy, moved
    return None


def _move_between(module: Pointer, point: ProgramPoint, mismatch: DeviceMismatch) -> ProgramPoint | None:
    """Return the last move of a module between a program point and a mismatch."""
    state = mismatch.point.state
    moved = state.heap_object(module).last_moved_at if state is not None and state.has(module.id) else None
    return moved if moved is not None and point.time < moved.time < mismatch.point.time else None


def _target_name(point: ProgramPoint) -> str:
    """Return the name that the statement assigns, or the receiver of the call."""
    statement = point.stmt
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    target: ast.expr | None = targets[0] if targets else None
    while isinstance(target, ast.Subscript):
        target = target.value
    if target is not None:
        return ast.unparse(target)
    return (
        ast.unparse(point.node.func.value)
        if isinstance(point.node, ast.Call) and isinstance(point.node.func, ast.Attribute)
        else "it"
    )


def create_like_parameter(
    observations: Observations, site_id: int, point: ProgramPoint, mismatch: DeviceMismatch
) -> list[Edit]:
    """Return edits that create a tensor on the device of the parameter whose shape it has.

    ``torch.zeros(p.shape)`` becomes ``torch.zeros(p.shape, device=p.device)``; if it runs before the move of ``p``, it
    is moved after it. Empty if there is no such parameter.
    """
    sized = observations.shape_dependencies.get(site_id)
    if sized is None or not isinstance(point.node, ast.Call):
        return []
    edit = FactoryCall.at(point).edit(f"{sized.text}.device")
    if edit is None or not sized.early:
        return [edit] if edit is not None else []
    moved = _move_between(sized.module, point, mismatch)
    fix = constructed_after(observations, point, moved)[0] if moved is not None else None
    return [edit, *fix.edits] if fix is not None else []
