"""Data that goes into one call together with other data: moved where the other is, by a statement like its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import CPU, Tensor, alternatives
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import headers, inside_module
from devfix.fixes.move_style import Move
from devfix.fixes.value_scope import bound_at
from devfix.model import InsertStatement, Where

__all__ = ["beside_companion"]


def beside_companion(
    observations: Observations, key: int, mismatches: Iterable[DeviceMismatch]
) -> list[InsertStatement]:
    """``adj = adj.cuda()`` behind ``features = features.cuda()``, for ``model(features, adj)``.

    ``key`` is where the data was made.  Nothing where some of the ``mismatches`` comes from no such call.
    """
    edits: dict[InsertStatement, None] = {}
    for mismatch in dict.fromkeys(mismatches):
        found = next(_beside(observations, key, mismatch), None)
        if found is None:
            return []
        edits[found] = None
    return list(edits)


def _beside(observations: Observations, key: int, mismatch: DeviceMismatch) -> Iterator[InsertStatement]:
    for call_frame in mismatch.point.call_stack:
        if inside_module(call_frame):
            return
        for call in (
            node for root in headers(call_frame.stmt) for node in ast.walk(root) if isinstance(node, ast.Call)
        ):
            names = [argument.id for argument in call.args if isinstance(argument, ast.Name)]
            names += [keyword.value.id for keyword in call.keywords if isinstance(keyword.value, ast.Name)]
            for name in names:
                if _is_the_culprit(mismatch.point, call_frame, name, key):
                    yield from _behind_moves(
                        observations, call_frame, name, [other for other in names if other != name]
                    )


def _is_the_culprit(point: ProgramPoint, call_frame: CallFrame, name: str, key: int) -> bool:
    value = value_of(point, call_frame, ast.Name(name, ast.Load()))
    return any(
        isinstance(option, Tensor) and option.device == CPU and any(origin.site_id == key for origin in option.origins)
        for option in (alternatives(value) if value is not None else ())
    )


def _behind_moves(
    observations: Observations, call_frame: CallFrame, name: str, others: list[str]
) -> Iterator[InsertStatement]:
    """Behind the last move of a companion, in the function to which the names of both belong."""
    moves = [transfer for transfer in observations.transfers if _rebinds(transfer) in others]
    for transfer in sorted(moves, key=lambda transfer: transfer.point.key, reverse=True):
        point = transfer.point
        if point.call_frame.activation.env != _home(call_frame, name) or point.call_frame.activation.env != _home(
            call_frame, _rebinds(transfer)
        ):
            continue
        last = max((node.lineno for node in _stores(point.call_frame.activation.node, name)), default=0)
        if last >= point.stmt.lineno or not bound_at(point.call_frame, name):
            continue
        code = f"{name} = {name}{Move(point).trailer()}"
        yield InsertStatement(point.tree.path, point.tree.span(point.stmt), Where.AFTER, code)


def _rebinds(transfer: Transfer) -> str:
    """``x`` of a statement ``x = x.to(device)``; empty for another one."""
    stmt, called = transfer.point.stmt, transfer.call.func
    if transfer.device != "accelerator" or not isinstance(stmt, ast.Assign) or stmt.value is not transfer.call:
        return ""
    moved = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else None
    named = [target.id for target in stmt.targets if isinstance(target, ast.Name)]
    return moved if moved is not None and named == [moved] else ""


def _home(call_frame: CallFrame, name: str) -> int:
    """The scope that a name of a function belongs to: its own, or the module's."""
    activation = call_frame.activation
    own = {node.id for node in _stores(activation.node, name)}
    given = {argument.arg for argument in ast.walk(activation.node) if isinstance(argument, ast.arg)}
    return activation.env if name in own | given else activation.module.env


def _stores(function: ast.AST, name: str) -> Iterator[ast.Name]:
    return (
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    )
