"""Moves of batch items in the program's style: beside a sibling's move, or with the program's helper function."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame
from devfix.analysis.observations import Binding, Transfer
from devfix.analysis.scopes import visible
from devfix.fixes.insertion_point import inside_module, same_function
from devfix.fixes.move_style import Move
from devfix.fixes.optional_values import may_be_number, move_code
from devfix.fixes.tensors.misplaced_items import (
    MisplacedItem,
    PlannedEdit,
    append_move,
    bindings_of,
    expression_of,
    is_plain_access,
)
from devfix.model import InsertStatement, Where
from devfix.syntax.tree import names_in

__all__ = ["move_beside_siblings", "move_with_helper"]


def move_beside_siblings(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return the move of the item next to those of other items of the same batch."""
    for transfer in _last_move_per_function(siblings):
        for binding in bindings_of(observations, misplaced):
            if not same_function(binding.point.call_frame, transfer.point.call_frame):
                continue
            planned = _like_sibling(misplaced, binding, transfer)
            if planned is not None:
                return [planned]
    for transfer in siblings:
        if not inside_module(transfer.point.call_frame):
            node = expression_of(transfer.point, transfer.point.call_frame, misplaced, "…", whole_statement=True)
            if node is not None:
                return [append_move(transfer.point.tree, node, Move(transfer.point).trailer(), ast.unparse(node))]
    return None


def _last_move_per_function(siblings: Sequence[Transfer]) -> list[Transfer]:
    """Return the last sibling move of each function."""
    last: dict[int, Transfer] = {}
    for transfer in siblings:
        latest = last.get(id(transfer.point.call_frame.activation.node))
        if latest is None or transfer.point.key >= latest.point.key:
            last[id(transfer.point.call_frame.activation.node)] = transfer
    return list(last.values())


def _like_sibling(misplaced: MisplacedItem, binding: Binding, transfer: Transfer) -> PlannedEdit | None:
    tree, statement = transfer.point.tree, transfer.point.stmt
    name, move = binding.name, Move(transfer.point)
    if may_be_number(transfer.point.call_frame.activation.node, name):
        return None
    trailer = move.trailer()
    if isinstance(move.guard, ast.IfExp):
        if not name.isidentifier() or not isinstance(statement, ast.Assign):
            return None
        code = f"{name} = {name}{trailer} if {tree.source(move.guard.test)} else {name}"
        return PlannedEdit(InsertStatement(tree.path, tree.span(statement), Where.AFTER, code), f"`{name}`")
    inline = isinstance(transfer.call.func, ast.Attribute) and is_plain_access(transfer.call.func.value)
    beside = not inline and isinstance(statement, ast.Assign) and statement.lineno >= binding.point.stmt.lineno
    if (
        not beside
        and binding.kind in ("assign", "attribute")
        and binding.value is not None
        and is_plain_access(binding.value)
    ):
        return append_move(tree, binding.value, trailer, name)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Tuple, ast.List)):
        for element in statement.value.elts:
            if isinstance(element, ast.Name) and element.id == name:
                return append_move(tree, element, trailer, name)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not name.isidentifier():
        return None
    if statement.lineno < binding.point.stmt.lineno and statement is not binding.point.stmt:
        return None
    code = move_code(transfer.point.call_frame.activation.node, name, trailer, statement)
    edit = InsertStatement(tree.path, tree.span(statement), Where.AFTER, code)
    return PlannedEdit(edit, f"`{name}`")


def move_with_helper(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return ``batch = to_device(batch, device)``, as another loop of the program has it."""
    for transfer in reversed(observations.transfers):
        if transfer.device != "accelerator" or transfer.origin.site_id == misplaced.site_id:
            continue
        for call_frame in transfer.point.call_stack:
            name = _helper_target(call_frame.stmt)
            if name is None:
                continue
            is_direct = call_frame is transfer.point.call_frame
            for cut in range(len(misplaced.path) if not is_direct else 0, -1, -1):
                if is_direct and transfer.origin.path not in ((), ("*",)):
                    continue  # only moves of entire batches are copied from another loop
                for binding in bindings_of(observations, replace(misplaced, path=misplaced.path[:cut])):
                    planned = _same_call(binding, call_frame, name)
                    if planned is not None:
                        return [planned]
    return None


def _helper_target(stmt: ast.stmt) -> str | None:
    """Return ``x`` of a statement ``x = helper(x, …)``."""
    if not (isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name)):
        return None
    name, value = stmt.targets[0].id, stmt.value
    if isinstance(value, (ast.DictComp, ast.ListComp)) and len(value.generators) == 1:
        return name if names_in(value.generators[0].iter) == {name} else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, (ast.Name, ast.Attribute)):
        return None
    if isinstance(value.func, ast.Attribute) and ast.unparse(value.func.value) == name:
        return name
    return name if any(isinstance(argument, ast.Name) and argument.id == name for argument in value.args) else None


def _same_call(binding: Binding, call_frame: CallFrame, name: str) -> PlannedEdit | None:
    point, stmt = binding.point, call_frame.stmt
    if binding.name != name or not isinstance(stmt, ast.Assign) or inside_module(point.call_frame):
        return None
    bound = {
        inner.id
        for node in ast.walk(stmt.value)
        if isinstance(node, ast.comprehension)
        for inner in ast.walk(node.target)
        if isinstance(inner, ast.Name)
    }
    if not all(other in visible(point, point.call_frame) for other in names_in(stmt.value) - bound - {name}):
        return None
    loop = binding.kind == "target" and isinstance(point.stmt, (ast.For, ast.AsyncFor))
    if not loop and not isinstance(point.stmt, ast.Assign):
        return None
    where = Where.BODY_START if loop else Where.AFTER
    edit = InsertStatement(point.tree.path, point.tree.span(point.stmt), where, call_frame.tree.source(stmt))
    return PlannedEdit(edit, f"`{name}`")
