"""Copies of parameters that are made before the move, and state of their shape: what belongs behind the move."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Pointer
from devfix.analysis.observations import DeviceMismatch, Operand, OptimizerHazard, ParameterCopy
from devfix.fixes.reorder_after_move import built_behind
from devfix.fixes.tensors.tensor_creation import Making
from devfix.model import Edit

__all__ = ["copied_early", "early_copy", "shaped_like_parameter"]


def copied_early(observations: Observations) -> Iterator[OptimizerHazard]:
    """Copies that fail because their parameters moved on without them, and could be made behind that move."""
    if not observations.copies:
        return
    late = {id(hazard.late.stmt) for hazard in observations.hazards if hazard.kind == "eager-state"}
    described: set[ParameterCopy] = set()
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            found = early_copy(observations, mismatch, operand)
            if found is not None and found[0] not in described and id(found[1].stmt) not in late:
                copy, moved = found
                described.add(copy)
                if built_behind(observations, copy.point, moved)[0] is not None:
                    yield OptimizerHazard("copied", _named(copy.point), copy.point, moved, mismatch.point)


def early_copy(
    observations: Observations, mismatch: DeviceMismatch, operand: Operand
) -> tuple[ParameterCopy, ProgramPoint] | None:
    """The copy that an operand on the CPU is, and the move of the model that came behind it."""
    memory = mismatch.point.state
    if memory is None or not operand.is_certain or {origin.kind for origin in operand.origins} != {"parameter"}:
        return None
    keys = {origin.site_id for origin in operand.origins}
    found = [copy for copy in observations.copies.values() if copy.module.id in keys]
    for copy in found:
        moved = _moved_behind(copy.module, copy.point, mismatch)
        if moved is not None:
            return copy, moved
    return None


def _moved_behind(module: Pointer, point: ProgramPoint, mismatch: DeviceMismatch) -> ProgramPoint | None:
    """The move of a module between a moment and a meeting."""
    memory = mismatch.point.state
    moved = memory.heap_object(module).last_moved_at if memory is not None and memory.has(module.id) else None
    return moved if moved is not None and point.time < moved.time < mismatch.point.time else None


def _named(point: ProgramPoint) -> str:
    """What the innermost statement writes."""
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


def shaped_like_parameter(
    observations: Observations, key: int, point: ProgramPoint, mismatch: DeviceMismatch
) -> list[Edit]:
    """``torch.zeros(p.shape, device=p.device)``, behind the move of ``p`` where it is made ahead of that."""
    sized = observations.sized.get(key)
    if sized is None or not isinstance(point.node, ast.Call):
        return []
    edit = Making(point.tree, point.node).edit(f"{sized.text}.device")
    if edit is None or not sized.early:
        return [edit] if edit is not None else []
    moved = _moved_behind(sized.module, point, mismatch)
    fix = built_behind(observations, point, moved)[0] if moved is not None else None
    return [edit, *fix.edits] if fix is not None else []
