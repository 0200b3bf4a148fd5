"""Moves under the condition under which the program moves other tensors: ``if use_cuda:``."""

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
from devfix.fixes.tensors.tensor_creation import FactoryCall, initialized_later
from devfix.model import InsertStatement, Where

__all__ = ["move_beside_conditional", "move_under_condition"]


def move_beside_conditional(
    observations: Observations, created: ProgramPoint, factory: FactoryCall, mismatches: Iterable[DeviceMismatch]
) -> InsertStatement | None:
    """Return ``y = y.cuda()`` next to ``x = x.cuda()`` under ``if use_cuda:``, between creation and uses of ``y``."""
    assigned = _assigned_name(factory)
    if assigned is None or inside_module(created.call_frame):
        return None
    name, statement = assigned
    for move, guard in sorted(
        _conditional_moves(observations, created), key=lambda pair: pair[0].point.key, reverse=True
    ):
        found = common_block(created.tree, statement, guard)
        if found is None or found[0][found[1]] is not statement or found[1] >= found[2] or found[0][found[2]] != guard:
            continue
        later_nodes = {node for later in found[0][found[2] + 1 :] for node in ast.walk(later)}
        if all(
            any(call_frame.stmt in later_nodes for call_frame in mismatch.point.call_stack) for mismatch in mismatches
        ):
            code = f"{name} = {name}{move.trailer()}"
            return InsertStatement(created.tree.path, created.tree.span(move.point.stmt), Where.AFTER, code)
    return None


def move_under_condition(
    observations: Observations, created: ProgramPoint, factory: FactoryCall
) -> InsertStatement | None:
    """Return ``if use_cuda: x = x.cuda()`` after the creation, like the program's moves of modules and tensors."""
    assigned = _assigned_name(factory)
    if assigned is None or inside_module(created.call_frame):
        return None
    name, statement = assigned
    pairs = [pair for pair in _conditional_moves(observations, None) if pair[0].legacy]
    for move, guard in sorted(pairs, key=lambda pair: not same_function(pair[0].point.call_frame, created.call_frame)):
        node = move.point.node
        assert isinstance(node, ast.Call)
        parts = [*node.args, *(keyword.value for keyword in node.keywords), guard.test]
        if all(all_live(created, created.call_frame, part) for part in parts):
            code = f"if {move.point.tree.source(guard.test)}:\n    {name} = {name}{move.trailer()}"
            return InsertStatement(created.tree.path, created.tree.span(statement), Where.AFTER, code)
    return None


def _assigned_name(factory: FactoryCall) -> tuple[str, ast.stmt] | None:
    """Return the name that the tensor is assigned to, and the statement that completes it; ``None`` for a leaf.

    A leaf (``requires_grad=True``) cannot be moved without becoming a non-leaf tensor.
    """
    statement = factory.tree.statement(factory.call)
    if not isinstance(statement, ast.Assign) or not factory.text.isidentifier():
        return None
    if any(keyword.arg == "requires_grad" for keyword in factory.call.keywords):
        return None
    return initialized_later(factory) or (factory.text, statement)


def _conditional_moves(observations: Observations, created: ProgramPoint | None) -> Iterator[tuple[Move, ast.If]]:
    """Yield moves under conditions on the accelerator; with ``created``, only those in the same function."""
    tensors = [transfer.point for transfer in observations.transfers if transfer.device == "accelerator"]
    for point in dict.fromkeys([*tensors, *observations.moves]):
        if not isinstance(point.node, ast.Call) or (
            created is not None and not same_function(point.call_frame, created.call_frame)
        ):
            continue
        move = Move(point)
        if isinstance(move.guard, ast.If) and asks_for_accelerator(move.guard.test):
            yield move, move.guard
