"""Data passed to the same call as other data: moved after it, by a statement of the same form."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import CPU, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch, Transfer
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import headers, inside_module
from devfix.fixes.move_style import Move
from devfix.fixes.optional_values import may_be_number, move_code
from devfix.fixes.value_scope import bound_at
from devfix.model import InsertStatement, Where

__all__ = ["move_beside_companion"]


def move_beside_companion(
    observations: Observations, site_id: int, mismatches: Iterable[DeviceMismatch]
) -> list[InsertStatement]:
    """Return ``adj = adj.cuda()`` after ``features = features.cuda()``, for ``model(features, adj)``.

    ``site_id`` is the creation of the data. Empty if one of the ``mismatches`` has no such call.
    """
    edits: dict[InsertStatement, None] = {}
    for mismatch in dict.fromkeys(mismatches):
        found = next(_beside(observations, site_id, mismatch), None)
        if found is None:
            return []
        edits[found] = None
    return list(edits)


def _beside(observations: Observations, site_id: int, mismatch: DeviceMismatch) -> Iterator[InsertStatement]:
    for call_frame in mismatch.point.call_stack:
        if inside_module(call_frame):
            return
        for call in (
            node for root in headers(call_frame.stmt) for node in ast.walk(root) if isinstance(node, ast.Call)
        ):
            names = [argument.id for argument in call.args if isinstance(argument, ast.Name)]
            names += [keyword.value.id for keyword in call.keywords if isinstance(keyword.value, ast.Name)]
            for name in names:
                if _is_misplaced(mismatch.point, call_frame, name, site_id):
                    yield from _after_moves(observations, call_frame, name, [other for other in names if other != name])


def _is_misplaced(point: ProgramPoint, call_frame: CallFrame, name: str, site_id: int) -> bool:
    value = value_of(point, call_frame, ast.Name(name, ast.Load()))
    return any(
        isinstance(option, Tensor)
        and option.device == CPU
        and any(origin.source_id == site_id for origin in option.origins)
        for option in (alternatives(value) if value is not None else ())
    )


def _after_moves(
    observations: Observations, call_frame: CallFrame, name: str, companions: list[str]
) -> Iterator[InsertStatement]:
    """Yield insertions after the last move of a companion, in the function that owns both names."""
    moves = [transfer for transfer in observations.transfers if _rebound_name(transfer) in companions]
    for transfer in sorted(moves, key=lambda transfer: transfer.point.key, reverse=True):
        point = transfer.point
        if point.call_frame.activation.env != _environment_of(
            call_frame, name
        ) or point.call_frame.activation.env != _environment_of(call_frame, _rebound_name(transfer)):
            continue
        last = max((node.lineno for node in _stores(point.call_frame.activation.node, name)), default=0)
        if last >= point.stmt.lineno or not bound_at(point.call_frame, name):
            continue
        if may_be_number(point.call_frame.activation.node, name):
            continue
        code = move_code(point.call_frame.activation.node, name, Move(point).trailer(), point.stmt)
        yield InsertStatement(point.tree.path, point.tree.span(point.stmt), Where.AFTER, code)


def _rebound_name(transfer: Transfer) -> str:
    """Return ``x`` of a statement ``x = x.to(device)``; empty for other statements."""
    stmt, called = transfer.point.stmt, transfer.call.func
    if transfer.device != "accelerator" or not isinstance(stmt, ast.Assign) or stmt.value is not transfer.call:
        return ""
    receiver = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else None
    named = [target.id for target in stmt.targets if isinstance(target, ast.Name)]
    return receiver if receiver is not None and named == [receiver] else ""


def _environment_of(call_frame: CallFrame, name: str) -> int:
    """Return the environment of a name: the function's, or the module's if it is global."""
    activation = call_frame.activation
    local = {node.id for node in _stores(activation.node, name)}
    parameters = {argument.arg for argument in ast.walk(activation.node) if isinstance(argument, ast.arg)}
    return activation.env if name in local | parameters else activation.module.env


def _stores(function: ast.AST, name: str) -> Iterator[ast.Name]:
    return (
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    )
