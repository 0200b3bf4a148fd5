"""Tensors of a program that moves under a condition on the accelerator: moved under the same one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import asks_for_accelerator
from devfix.fixes.insertion_point import all_live, inside_module, same_function
from devfix.fixes.move_style import Move
from devfix.fixes.reorder import common_block
from devfix.fixes.tensors.tensor_creation import Making, drawn_later
from devfix.model import InsertStatement, Where

__all__ = ["beside_flagged", "under_flag"]


def beside_flagged(
    observations: Observations, made: ProgramPoint, making: Making, mismatches: Iterable[DeviceMismatch]
) -> InsertStatement | None:
    """``y = y.cuda()`` next to ``x = x.cuda()`` under ``if use_cuda:``, between the making of ``y`` and its use."""
    bound = _bound(making)
    if bound is None or inside_module(made.call_frame):
        return None
    name, statement = bound
    for move, guard in sorted(_flagged(observations, made), key=lambda pair: pair[0].point.key, reverse=True):
        found = common_block(made.tree, statement, guard)
        if found is None or found[0][found[1]] is not statement or found[1] >= found[2] or found[0][found[2]] != guard:
            continue
        behind = {node for later in found[0][found[2] + 1 :] for node in ast.walk(later)}
        if all(any(call_frame.stmt in behind for call_frame in mismatch.point.call_stack) for mismatch in mismatches):
            code = f"{name} = {name}{move.trailer()}"
            return InsertStatement(made.tree.path, made.tree.span(move.point.stmt), Where.AFTER, code)
    return None


def under_flag(observations: Observations, made: ProgramPoint, making: Making) -> InsertStatement | None:
    """``if use_cuda: x = x.cuda()`` behind the making, as the program moves its modules and other tensors."""
    bound = _bound(making)
    if bound is None or inside_module(made.call_frame):
        return None
    name, statement = bound
    pairs = [pair for pair in _flagged(observations, None) if pair[0].legacy]
    for move, guard in sorted(pairs, key=lambda pair: not same_function(pair[0].point.call_frame, made.call_frame)):
        node = move.point.node
        assert isinstance(node, ast.Call)
        parts = [*node.args, *(keyword.value for keyword in node.keywords), guard.test]
        if all(all_live(made, made.call_frame, part) for part in parts):
            code = f"if {move.point.tree.source(guard.test)}:\n    {name} = {name}{move.trailer()}"
            return InsertStatement(made.tree.path, made.tree.span(statement), Where.AFTER, code)
    return None


def _bound(making: Making) -> tuple[str, ast.stmt] | None:
    """The one name that the tensor gets at once, and the statement behind which it is complete; no leaf may move."""
    statement = making.tree.statement(making.call)
    if not isinstance(statement, ast.Assign) or not making.words.isidentifier():
        return None
    if any(keyword.arg == "requires_grad" for keyword in making.call.keywords):
        return None
    return drawn_later(making) or (making.words, statement)


def _flagged(observations: Observations, made: ProgramPoint | None) -> Iterator[tuple[Move, ast.If]]:
    """Moves under conditions on the accelerator; with ``made``, those of the same function."""
    tensors = [transfer.point for transfer in observations.transfers if transfer.device == "accelerator"]
    for point in dict.fromkeys([*tensors, *observations.moves]):
        if not isinstance(point.node, ast.Call) or (
            made is not None and not same_function(point.call_frame, made.call_frame)
        ):
            continue
        move = Move(point)
        if isinstance(move.guard, ast.If) and asks_for_accelerator(move.guard.test):
            yield move, move.guard
