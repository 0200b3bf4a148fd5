"""Data of which the program moves a part or a copy: move the other part beside it, or use the copy."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import CPU, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch, Transfer
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import headers, inside_module, same_function
from devfix.fixes.move_style import Move
from devfix.fixes.optional_values import move_code
from devfix.fixes.reorder import common_block
from devfix.fixes.value_scope import bound_at
from devfix.model import AppendCode, Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.bindings import binds
from devfix.syntax.tree import SourceTree

__all__ = ["move_beside_parts"]


Origin = tuple[int, tuple[str, ...]]


def move_beside_parts(
    observations: Observations, origins: set[Origin], mismatches: Iterable[DeviceMismatch]
) -> list[Edit]:
    """Return edits that move the values of these origins (site id and path) like the parts that are already moved.

    Use ``x_dev`` for ``x`` if ``x_dev = x.to(device)`` exists; insert ``test = test.to(device)`` after the same
    statement for ``train``; write ``Y[i:j].to(device)`` next to ``X[i:j].to(device)``. Empty if one use has no such
    neighbor.
    """
    site_ids = {site_id for site_id, _ in origins}
    near = [t for t in observations.transfers if t.origin.site_id in site_ids and t.device == "accelerator"]
    moved = [transfer for transfer in near if _is_plain(transfer)]
    moved.sort(key=lambda transfer: transfer.point.key, reverse=True)
    edits: dict[Edit, None] = {}
    for mismatch in dict.fromkeys(mismatches):
        found = _like_neighbors(mismatch, moved, origins)
        if not found:
            return list(dict.fromkeys(edit for transfer in near for edit in _in_return(transfer, origins)))
        edits.update(dict.fromkeys(found))
    return list(edits)


def _is_plain(transfer: Transfer) -> bool:
    """Whether a move is in an assignment outside modules and conditions."""
    move = Move(transfer.point)
    return (
        isinstance(transfer.point.stmt, ast.Assign)
        and move.guard is None
        and not inside_module(transfer.point.call_frame)
    )


def _like_neighbors(mismatch: DeviceMismatch, moved: list[Transfer], origins: set[Origin]) -> list[Edit]:
    """Return one edit for each misplaced name in the outermost statement of the stack that has moves near it."""
    for call_frame in mismatch.point.call_stack:
        if inside_module(call_frame):
            return []
        near = [transfer for transfer in moved if same_function(call_frame, transfer.point.call_frame)]
        names = sorted(_names(mismatch.point, call_frame, origins), key=lambda node: (node.lineno, node.col_offset))
        edits = [
            next((edit for plan in _PLANS for transfer in near if (edit := plan(call_frame, transfer, node))), None)
            for node in names
        ]
        found = [edit for edit in edits if edit is not None]
        if found and len(found) == len(names):
            return found
    return []


def _names(point: ProgramPoint, call_frame: CallFrame, origins: set[Origin]) -> Iterator[ast.Name]:
    """Yield the names in a frame's statement that are CPU tensors of these origins."""
    for root in headers(call_frame.stmt):
        for node in ast.walk(root):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and _is_misplaced(point, call_frame, node, origins)
            ):
                yield node


def _is_misplaced(point: ProgramPoint, call_frame: CallFrame, node: ast.Name, origins: set[Origin]) -> bool:
    value = value_of(point, call_frame, node)
    return any(
        isinstance(option, Tensor)
        and option.device == CPU
        and any((origin.source_id, origin.path) in origins for origin in option.origins)
        for option in (alternatives(value) if value is not None else ())
    )


# --- an existing copy -----------------------------------------------------------------------------------------------
def _use_copy(call_frame: CallFrame, transfer: Transfer, node: ast.Name) -> Edit | None:
    """Return ``x_dev`` for ``x`` after ``x_dev = x.to(device)``, and ``x`` for an alias of the unmoved value."""
    tree, statement = call_frame.tree, transfer.point.stmt
    receiver = transfer.call.func.value if isinstance(transfer.call.func, ast.Attribute) else None
    target = _target_of(statement, transfer.call)
    if not isinstance(receiver, ast.Name) or target is None or target == node.id:
        return None
    bindings = _bindings(call_frame, node.id)
    if receiver.id != node.id and not _is_alias(tree, bindings, receiver.id, statement):
        return None
    branch = tree.parents.get(statement)
    root = branch if isinstance(branch, ast.If) and branch.orelse and binds(branch, target) else statement
    others = [
        stmt for stmt in _bindings(call_frame, target) if stmt is not statement and not _precedes(tree, stmt, root)
    ]
    if not all(_is_inside(tree, stmt, root) and _copies_name(stmt, target, receiver.id) for stmt in others):
        return None
    if not all(_precedes(tree, stmt, root) for stmt in bindings) or not _precedes(tree, root, call_frame.stmt):
        return None
    return ReplaceExpression(tree.path, tree.span(node), target)


def _is_inside(tree: SourceTree, statement: ast.stmt, root: ast.stmt) -> bool:
    return root in tree.ancestors(statement)


def _copies_name(statement: ast.stmt, target: str, name: str) -> bool:
    """Whether a statement assigns ``x_dev = x``, as the branch without an accelerator does."""
    return any(ast.unparse(t) == target and ast.unparse(value) == name for t, value in _pairs(statement))


def _is_alias(tree: SourceTree, bindings: list[ast.stmt], name: str, before: ast.stmt) -> bool:
    """Whether the only binding is ``alias = name``."""
    only = bindings[0] if len(bindings) == 1 else None
    return (
        isinstance(only, ast.Assign)
        and isinstance(only.value, ast.Name)
        and only.value.id == name
        and _precedes(tree, only, before)
    )


def _target_of(statement: ast.stmt, call: ast.Call) -> str | None:
    """Return the name to which the moved value is assigned."""
    for target, value in _pairs(statement):
        if value is call and isinstance(target, ast.Name):
            return target.id
    return None


def _pairs(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    several = (ast.Tuple, ast.List)
    if isinstance(target, several) and isinstance(value, several) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


# --- beside the move of another part --------------------------------------------------------------------------------
def _beside(call_frame: CallFrame, transfer: Transfer, node: ast.Name) -> Edit | None:
    """Return ``test = test.to(device)`` after ``train = train.to(device)``."""
    tree, statement = call_frame.tree, transfer.point.stmt
    receiver = transfer.call.func.value if isinstance(transfer.call.func, ast.Attribute) else None
    target = _target_of(statement, transfer.call)
    if not isinstance(receiver, ast.Name) or target != receiver.id or target == node.id:
        return None
    bindings = _bindings(call_frame, node.id)
    is_bound_before = all(_precedes(tree, binding, statement) for binding in bindings)
    if not is_bound_before or not bound_at(CallFrame(transfer.point.call_frame.activation, statement), node.id):
        return None
    if not _precedes(tree, statement, call_frame.stmt):
        return None
    code = move_code(transfer.point.call_frame.activation.node, node.id, Move(transfer.point).trailer(), statement)
    return InsertStatement(tree.path, tree.span(statement), Where.AFTER, code)


def _at_binding(call_frame: CallFrame, transfer: Transfer, node: ast.Name) -> Edit | None:
    """Return ``Y[i:j].to(device)`` if the same block has ``X[i:j].to(device)``."""
    tree, statement = call_frame.tree, transfer.point.stmt
    moved_slice = transfer.call.func.value if isinstance(transfer.call.func, ast.Attribute) else None
    bindings = _bindings(call_frame, node.id)
    if not isinstance(moved_slice, ast.Subscript) or len(bindings) != 1:
        return None
    value = next((v for t, v in _pairs(bindings[0]) if isinstance(t, ast.Name) and t.id == node.id), None)
    if not isinstance(value, ast.Subscript) or ast.unparse(value.slice) != ast.unparse(moved_slice.slice):
        return None
    found = common_block(tree, bindings[0], statement)
    if found is None or found[0][found[1]] is not bindings[0] or found[0][found[2]] is not statement:
        return None
    return AppendCode(tree.path, tree.span(value), Move(transfer.point).trailer())


def _in_return(transfer: Transfer, origins: set[Origin]) -> Iterator[Edit]:
    """Yield the missing move of ``return x.to(device), y``."""
    point, statement = transfer.point, transfer.point.stmt
    returned = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(returned, ast.Tuple) or transfer.call not in returned.elts or inside_module(point.call_frame):
        return
    for node in returned.elts:
        if isinstance(node, ast.Name) and _is_misplaced(point, point.call_frame, node, origins):
            yield AppendCode(point.tree.path, point.tree.span(node), Move(point).trailer())


# --- order ----------------------------------------------------------------------------------------------------------
def _bindings(call_frame: CallFrame, name: str) -> list[ast.stmt]:
    """Return the statements of the function that bind a name."""
    tree, function = call_frame.tree, call_frame.activation.node
    return [
        tree.statement(node)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        if tree.function(node) is function
    ]


def _precedes(tree: SourceTree, first: ast.stmt, second: ast.stmt) -> bool:
    """Whether ``first`` has run whenever ``second`` runs, in the same iteration of every enclosing loop."""
    if any(parent is first for parent in tree.ancestors(second)):
        return True  # the target of a loop
    found = common_block(tree, first, second)
    return found is not None and found[1] < found[2] and found[0][found[1]] is first


_PLANS = (_use_copy, _beside, _at_binding)
