"""Class weights of a functional loss: ``F.cross_entropy(logits, labels, weight=weights)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import inside_module
from devfix.fixes.module_move import module_move_at
from devfix.model import AppendCode, Finding, Fix, Severity
from devfix.syntax.bindings import binds
from devfix.syntax.tree import SourceTree

__all__ = ["is_loss_weight", "loss_weight_findings"]

_KEYWORDS = ("weight", "pos_weight")


def is_loss_weight(observations: Observations, site_id: int) -> bool:
    """Whether a created tensor is used on the accelerator only as the class weights of functional losses."""
    uses = [
        (mismatch, operand)
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
        if any(origin.kind == "made" and origin.site_id == site_id for origin in operand.origins)
    ]
    return bool(uses) and all(
        len(operand.origins) == 1 and _weight(mismatch, operand) is not None for mismatch, operand in uses
    )


def _weight(mismatch: DeviceMismatch, operand: Operand) -> ast.expr | None:
    """Return the argument that passes an operand to a loss as its weights."""
    call = mismatch.point.node
    if not isinstance(call, ast.Call) or not any(word in mismatch.operation for word in ("entropy", "nll_loss")):
        return None
    for keyword in call.keywords:
        if keyword.arg in _KEYWORDS and ast.unparse(keyword.value) == operand.text:
            return keyword.value
    return None


def loss_weight_findings(observations: Observations, code: str, name: str) -> Iterator[Finding]:
    """Yield one finding for each weight tensor that a functional loss receives on the CPU."""
    seen: set[int] = set()
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            argument = _weight(mismatch, operand)
            if argument is None or len(operand.origins) != 1 or operand.origins[0].kind != "made":
                continue
            if operand.origins[0].attribute_id:
                continue  # stored in an attribute: reported by DEV202
            site_id = operand.origins[0].site_id
            if site_id in seen or not is_loss_weight(observations, site_id):
                continue
            seen.add(site_id)
            point = observations.sources[site_id].point
            fixes = tuple(_fixes(observations, mismatch, argument))
            yield Finding(
                code,
                name,
                Severity.LATENT if mismatch.latent else Severity.ERROR,
                point.tree.path,
                point.span,
                f"the class weights `{operand.text}` stay on the CPU while the loss is computed on the accelerator",
                event_path(
                    (point, "created", "the weights are created on the CPU"),
                    (mismatch.point, "used", "the loss uses them here"),
                ),
                fixes,
                "" if fixes else "no device expression is in scope where the weights are passed to the loss",
            )


def _fixes(observations: Observations, mismatch: DeviceMismatch, argument: ast.expr) -> Iterator[Fix]:
    """Yield the move at the assignment if a device is in scope there, then the move at the call."""
    point, call = mismatch.point, mismatch.point.node
    assert isinstance(call, ast.Call)
    text = ast.unparse(argument)
    for call_frame in reversed(point.call_stack):
        value = _assigned_value(call_frame, text)
        trailer = (
            _trailer(observations, mismatch, call_frame)
            if value is not None and not inside_module(call_frame)
            else None
        )
        if value is not None and trailer is not None:
            yield Fix(f"move `{text}`", (AppendCode(call_frame.tree.path, call_frame.tree.span(value), trailer),))
    first = call.args[0] if call.args else None
    like_input = f".to({ast.unparse(first)}.device)" if isinstance(first, (ast.Name, ast.Attribute)) else None
    trailer = (
        like_input
        if inside_module(point.call_frame)
        else _trailer(observations, mismatch, point.call_frame) or like_input
    )
    if trailer is not None:
        yield Fix(f"move `{text}` at the loss", (AppendCode(point.tree.path, point.tree.span(argument), trailer),))


def _trailer(observations: Observations, mismatch: DeviceMismatch, call_frame: CallFrame) -> str | None:
    move = module_move_at(observations, mismatch, call_frame)
    return move.trailer if move is not None and move.is_unconditional else None


def _assigned_value(call_frame: CallFrame, text: str) -> ast.expr | None:
    """Return the value of the only assignment to a name in this function; a nested function's names are its own."""
    found = [
        node
        for node in ast.walk(call_frame.activation.node)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == text for target in node.targets)
        if call_frame.tree.function(node) is call_frame.activation.node
    ]
    if len(found) != 1 or not text.isidentifier() or not binds(found[0], text):
        return None
    return found[0].value if _is_only_weight(call_frame.tree, call_frame.activation.node, text, found[0]) else None


def _is_only_weight(tree: SourceTree, function: ast.AST, text: str, assignment: ast.Assign) -> bool:
    """Whether a name is read only as the weights of a loss: other uses may need its values on the CPU."""
    reads = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == text and isinstance(node.ctx, ast.Load)
    ]
    return all(
        isinstance(parent := tree.parents.get(node), ast.keyword) and parent.arg in _KEYWORDS for node in reads
    ) and bool(assignment.value)
