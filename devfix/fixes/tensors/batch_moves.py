"""Moves of batch items: like the moves of other items, at the item's first name, or at its uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Const, Pointer, Text, TupleValue, alternatives
from devfix.analysis.observations import Binding, Transfer
from devfix.analysis.scopes import value_of
from devfix.analysis.stdlib.containers import ListObject
from devfix.fixes.insertion_point import inside_module, same_function
from devfix.fixes.move_style import Move, style_at
from devfix.fixes.optional_values import exit_without, may_be_number, tests_for_none
from devfix.fixes.tensors.argument_moves import move_argument
from devfix.fixes.tensors.companions import move_beside_companion
from devfix.fixes.tensors.comprehensions import move_container
from devfix.fixes.tensors.misplaced_items import (
    MisplacedItem,
    PlannedEdit,
    append_move,
    bindings_of,
    expression_of,
    is_plain_access,
    moved_siblings,
    name_of,
)
from devfix.fixes.tensors.partial_moves import move_beside_parts
from devfix.fixes.tensors.sibling_style import move_beside_siblings, move_with_helper
from devfix.model import Edit, Fix, InsertStatement, Where

__all__ = ["batch_fixes"]


def batch_fixes(observations: Observations, misplaced_items: Sequence[MisplacedItem]) -> Iterator[Fix]:
    """Yield fixes that move the misplaced items of one batch, best first."""
    origins = {(misplaced.site_id, misplaced.path) for misplaced in misplaced_items}
    part_moves = move_beside_parts(
        observations, origins, [mismatch for misplaced in misplaced_items for mismatch in misplaced.mismatches]
    )
    if part_moves:
        yield Fix(
            "move " + ", ".join(f"`{name_of(observations, misplaced)}`" for misplaced in misplaced_items),
            tuple(part_moves),
        )
    paths = {misplaced.path for misplaced in misplaced_items}
    siblings = [
        transfer
        for transfer in observations.transfers
        if transfer.origin.site_id == misplaced_items[0].site_id
        and transfer.device == "accelerator"
        and transfer.origin.path not in paths
    ] or moved_siblings(observations, misplaced_items[0])
    for plan in _PLANS:
        planned: list[PlannedEdit] = []
        for misplaced in misplaced_items:
            parts = plan(observations, misplaced, siblings)
            if parts is None:
                break
            planned.extend(parts)
        else:
            edits = _merge_conditions(dict.fromkeys(part.edit for part in planned))
            if edits:
                description = ", ".join(dict.fromkeys(part.description for part in planned))
                yield Fix(f"move {description}", edits)


def _beside_companions(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return moves after those of other arguments of the same call, for data that the program creates."""
    if observations.sources[misplaced.site_id].kind != "made":
        return None
    edits = move_beside_companion(observations, misplaced.site_id, misplaced.mismatches)
    return [PlannedEdit(edit, f"`{edit.code.split(' =')[0]}`") for edit in edits] or None


def _merge_conditions(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Merge consecutive insertions at one position under the same condition into one ``if`` statement."""
    merged: list[Edit] = []
    for edit in edits:
        last = merged[-1] if merged else None
        if isinstance(edit, InsertStatement) and isinstance(last, InsertStatement) and edit.code.startswith("if "):
            head, body = edit.code.split("\n", 1)
            if replace(last, code="") == replace(edit, code="") and last.code.startswith(head + "\n"):
                merged[-1] = replace(last, code=f"{last.code}\n{body}")
                continue
        merged.append(edit)
    return tuple(merged)


# --- at a call -----------------------------------------------------------------------------------------------------
def _at_calls(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return the move of the argument that passes the item on, if the item has no name earlier that could be moved."""
    for binding in bindings_of(observations, misplaced):
        if _may_be_no_tensor(misplaced, binding):
            return None
        planned = move_argument(observations, misplaced, binding)
        if planned is not None:
            return [planned]
        if _at_name(observations, misplaced, binding) is not None:
            return None
    return None


# --- at the item's name ---------------------------------------------------------------------------------------------
def _at_names(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return the move at the item's first name for which a device expression is in scope."""
    for binding in bindings_of(observations, misplaced):
        planned = _at_name(observations, misplaced, binding)
        if planned is not None:
            return [planned]
    return None


def _at_name(observations: Observations, misplaced: MisplacedItem, binding: Binding) -> PlannedEdit | None:
    point, name = binding.point, binding.name
    tree, statement = point.tree, point.stmt
    style = style_at(observations, point, misplaced)
    if style is None or not name.isidentifier() or inside_module(point.call_frame):
        return None
    if _may_be_no_tensor(misplaced, binding):
        return None
    trailer, guard = style
    scope = point.call_frame.activation.node
    is_optional = tests_for_none(scope, name, scope if binding.kind == "param" else statement)
    is_access = binding.kind == "assign" and binding.value is not None and is_plain_access(binding.value)
    if is_access and binding.value is not None and guard is None and not is_optional:
        return append_move(tree, binding.value, trailer, name)
    code = f"{name} = {name}{trailer}"
    check = exit_without(tree, statement, name) if is_optional and binding.kind == "assign" else None
    if check is not None:
        statement = check
    elif is_optional:
        guard = f"{name} is not None" if guard is None else f"{name} is not None and {guard}"
    if guard is not None:
        code = f"if {guard}:\n    {code}"
    if binding.kind == "target" and isinstance(statement, (ast.For, ast.AsyncFor)):
        if _checks_type(statement, name):
            return None
        where = Where.BODY_START
    elif binding.kind == "param":
        function = point.call_frame.activation.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _checks_type(function, name):
            return None
        if may_be_number(function, name):
            return None
        edit = InsertStatement(tree.path, tree.span(function), Where.BODY_START, code)
        return PlannedEdit(edit, f"`{name}`")
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.With)) or check is not None:
        where = Where.BODY_START if isinstance(statement, ast.With) else Where.AFTER
    else:
        return None
    return PlannedEdit(InsertStatement(tree.path, tree.span(statement), where, code), f"`{name}`")


def _may_be_no_tensor(misplaced: MisplacedItem, binding: Binding) -> bool:
    """Return whether the name may hold a text or a sequence, which have no ``to``: ``for x in (prompts, tokens):``."""
    statement = binding.point.stmt
    looped = statement.iter if isinstance(statement, (ast.For, ast.AsyncFor)) and binding.kind == "target" else None
    others = looped.elts if isinstance(looped, (ast.Tuple, ast.List)) else []
    displays = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.JoinedStr)
    if any(isinstance(each, (*displays, ast.Constant)) for each in others):
        return True
    for point in (mismatch.point for mismatch in misplaced.mismatches):
        for call_frame in point.call_stack:
            if point.state is None or not same_function(binding.point.call_frame, call_frame):
                continue
            values = (value_of(point, call_frame, each) for each in (ast.Name(binding.name, ast.Load()), *others))
            for option in (option for value in values if value is not None for option in alternatives(value)):
                is_sequence = isinstance(option, Pointer) and type(point.state.heap_object(option)) is ListObject
                is_text = isinstance(option, Const) and isinstance(option.value, str)
                if is_sequence or is_text or isinstance(option, (Text, TupleValue)):
                    return True
    return False


def _checks_type(function: ast.AST, name: str) -> bool:
    """Whether a function or loop checks the type of ``name``: then it may be something other than a tensor."""
    return any(_is_type_check(node, name) for node in ast.walk(function))


def _is_type_check(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Match):
        return ast.unparse(node.subject) == name
    if not isinstance(node, ast.Call) or not node.args:
        return False
    is_check = ast.unparse(node.func).split(".")[-1] in ("isinstance", "hasattr", "is_tensor")
    return is_check and ast.unparse(node.args[0]) == name


# --- at the uses ----------------------------------------------------------------------------------------------------
def _at_uses(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return moves appended to the item in each failing operation."""
    planned: dict[tuple[object, ...], PlannedEdit] = {}
    if any(_may_be_no_tensor(misplaced, binding) for binding in bindings_of(observations, misplaced)):
        return None
    for mismatch, text in zip(misplaced.mismatches, misplaced.texts, strict=False):
        for call_frame in mismatch.point.call_stack:
            if inside_module(call_frame):
                break
            node = expression_of(mismatch.point, call_frame, misplaced, text)
            trailer = (
                _trailer_at(observations, misplaced, siblings, mismatch.point, call_frame) if node is not None else None
            )
            if node is not None and trailer is not None:
                span = call_frame.tree.span(node)
                planned[(call_frame.tree.path, span)] = append_move(call_frame.tree, node, trailer, ast.unparse(node))
                break
        else:
            return None
        if not planned:
            return None
    return list(planned.values())


def _trailer_at(
    observations: Observations,
    misplaced: MisplacedItem,
    siblings: Sequence[Transfer],
    point: ProgramPoint,
    call_frame: CallFrame,
) -> str | None:
    beside = [transfer for transfer in siblings if same_function(transfer.point.call_frame, call_frame)]
    if beside:
        return Move(beside[-1].point).trailer()
    style = style_at(observations, point, misplaced, call_frame)
    return style[0] if style is not None and style[1] is None else None


_PLANS = (
    _beside_companions,
    move_beside_siblings,
    move_with_helper,
    _at_calls,
    _at_names,
    move_container,
    _at_uses,
)
