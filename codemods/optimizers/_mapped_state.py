"""Fused optimizers whose saved state is loaded from the CPU."""

from __future__ import annotations

import ast

from devfix.analysis.observations import OptimizerHazard
from devfix.fixes.event_path import event_path
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.syntax.tree import walk

__all__ = ["mapped_state_finding"]


def mapped_state_finding(hazard: OptimizerHazard, code: str, name: str) -> Finding:
    """Return the finding of a hazard of kind ``mapped``, with the rule's code and name."""
    loaded = hazard.loaded or hazard.late
    fix, optimizer = _fix(hazard), hazard.optimizer.split(".")[-1]
    return Finding(
        code,
        name,
        Severity.LATENT if hazard.latent else Severity.ERROR,
        loaded.tree.path,
        loaded.span,
        f"`step` of a fused or capturable `{optimizer}` is loaded from the CPU; PyTorch before 2.1 leaves it there",
        event_path(
            (hazard.late, "loaded", "the checkpoint is mapped to the CPU here"),
            (loaded, "loaded", "the optimizer's state is loaded here"),
            (hazard.step, "used", "the optimizer steps here"),
        ),
        (fix,) if fix is not None else (),
        "" if fix is not None else "no statement loads the state into an optimizer that has a name",
    )


def _fix(hazard: OptimizerHazard) -> Fix | None:
    """Return the fix that moves ``step`` to the device of the parameters after the state is loaded.

    Optimizers that are neither fused nor capturable require ``step`` on the CPU: https://github.com/pytorch/pytorch/issues/80809
    """
    point = hazard.loaded
    call = point.node if point is not None else None
    if point is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    tree, optimizer = point.tree, call.func.value
    statement = tree.statement(call)
    if not isinstance(statement, ast.Expr) or statement.value is not call or not _is_name(optimizer):
        return None
    used = {node.id for node in walk(tree.function(call)) if isinstance(node, ast.Name)}
    group, parameter = (_unused(name, used) for name in ("group", "parameter"))
    name = ast.unparse(optimizer)
    code = (
        f"for {group} in {name}.param_groups:\n"
        f'    if {group}.get("fused") or {group}.get("capturable"):\n'
        f'        for {parameter} in {group}["params"]:\n'
        f'            if "step" in {name}.state[{parameter}]:\n'
        f'                {name}.state[{parameter}]["step"] = {name}.state[{parameter}]["step"].to({parameter}.device)'
    )
    edit = InsertStatement(tree.path, tree.span(statement), Where.AFTER, code)
    return Fix(f"move `step` to the device of the parameters after `{name}` is restored", (edit,))


def _is_name(node: ast.expr) -> bool:
    """Return whether an expression is a name or an attribute of one: ``self.optimizer``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name
