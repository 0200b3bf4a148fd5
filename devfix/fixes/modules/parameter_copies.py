"""Copies of parameters that are made before the move, and state of their shape: what belongs behind the move."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Facts
from devfix.analysis.domain.location import Site
from devfix.analysis.domain.values import Ref
from devfix.analysis.observations import Copied, Meeting, Operand, OptimizerHazard
from devfix.fixes.reorder_after_move import built_behind
from devfix.fixes.tensors.tensor_creation import Making
from devfix.model import Edit

__all__ = ["copied_early", "early_copy", "shaped_like_parameter"]


def copied_early(facts: Facts) -> Iterator[OptimizerHazard]:
    """Copies that fail because their parameters moved on without them, and could be made behind that move."""
    if not facts.copies:
        return
    late = {id(hazard.late.stmt) for hazard in facts.hazards if hazard.kind == "eager-state"}
    told: set[Copied] = set()
    for meeting in facts.meetings:
        for operand in meeting.cpu:
            found = early_copy(facts, meeting, operand)
            if found is not None and found[0] not in told and id(found[1].stmt) not in late:
                copy, moved = found
                told.add(copy)
                if built_behind(facts, copy.site, moved)[0] is not None:
                    yield OptimizerHazard("copied", _named(copy.site), copy.site, moved, meeting.site)


def early_copy(facts: Facts, meeting: Meeting, operand: Operand) -> tuple[Copied, Site] | None:
    """The copy that an operand on the CPU is, and the move of the model that came behind it."""
    memory = meeting.site.memory
    if memory is None or not operand.sure or {birth.kind for birth in operand.births} != {"parameter"}:
        return None
    keys = {birth.key for birth in operand.births}
    found = [copy for copy in facts.copies.values() if copy.module.id in keys]
    for copy in found:
        moved = _moved_behind(copy.module, copy.site, meeting)
        if moved is not None:
            return copy, moved
    return None


def _moved_behind(module: Ref, site: Site, meeting: Meeting) -> Site | None:
    """The move of a module between a moment and a meeting."""
    memory = meeting.site.memory
    moved = memory.record(module).moved if memory is not None and memory.has(module.id) else None
    return moved if moved is not None and site.order < moved.order < meeting.site.order else None


def _named(site: Site) -> str:
    """What the innermost statement writes."""
    statement = site.stmt
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    target: ast.expr | None = targets[0] if targets else None
    while isinstance(target, ast.Subscript):
        target = target.value
    if target is not None:
        return ast.unparse(target)
    return (
        ast.unparse(site.node.func.value)
        if isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Attribute)
        else "it"
    )


def shaped_like_parameter(facts: Facts, key: int, site: Site, meeting: Meeting) -> list[Edit]:
    """``torch.zeros(p.shape, device=p.device)``, behind the move of ``p`` where it is made ahead of that."""
    sized = facts.sized.get(key)
    if sized is None or not isinstance(site.node, ast.Call):
        return []
    edit = Making(site.tree, site.node).edit(f"{sized.text}.device")
    if edit is None or not sized.early:
        return [edit] if edit is not None else []
    moved = _moved_behind(sized.module, site, meeting)
    remedy = built_behind(facts, site, moved)[0] if moved is not None else None
    return [edit, *remedy.edits] if remedy is not None else []
