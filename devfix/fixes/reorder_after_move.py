"""Constructions from a model's parameters, moved after the model's move together with their dependents."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Module, Opaque
from devfix.analysis.scopes import module_names
from devfix.fixes.reorder import common_block, dependents, independent, reach, shown, touches
from devfix.model import Fix, MoveStatements
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, text_of, walk

__all__ = ["constructed_after", "model_names", "moved_ahead"]


def constructed_after(
    observations: Observations, built: ProgramPoint, late: ProgramPoint, replaced: bool = False
) -> tuple[Fix | None, str]:
    """Return the fix that moves ``built`` after ``late``, or the reason why there is none.

    With ``replaced``, ``late`` replaces parameters, so the statement that collects them moves as well.
    """
    reason = "construction and move are in functions that share no block"
    for call_frame, later in _shared_levels(built, late):
        fix, why = _reordered(observations, built, call_frame, later, replaced)
        if fix is not None:
            return fix, ""
        reason = why or reason
    return None, reason


def _shared_levels(built: ProgramPoint, late: ProgramPoint) -> list[tuple[CallFrame, CallFrame]]:
    """Return pairs of frames in the same activation, innermost first; a statement that starts a thread is in none."""
    later = {id(call_frame.activation): call_frame for call_frame in late.call_stack}
    return [
        (call_frame, later[id(call_frame.activation)])
        for call_frame in reversed(built.call_stack)
        if id(call_frame.activation) in later and not _hands_over(later[id(call_frame.activation)].stmt)
    ]


@node_cache(2048)
def _hands_over(statement: ast.stmt) -> bool:
    """Return whether a statement hands a function to a thread or a process, where its moves happen at another time."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(keyword.arg == "target" for call in calls for keyword in call.keywords)


def _reordered(
    observations: Observations, built: ProgramPoint, call_frame: CallFrame, late: CallFrame, replaced: bool
) -> tuple[Fix | None, str]:
    tree = call_frame.tree
    found = common_block(tree, call_frame.stmt, late.stmt)
    if found is None:
        return None, "construction and move share no block"
    block, first, last = found
    if first >= last:
        return None, "construction and move are part of one statement"
    shared = model_names(built, call_frame)
    if replaced:
        first = _with_parameters(tree, block, first)
    last = _after_moves(observations, call_frame, block, first, last)
    moving, reason = dependents(tree, block, first, last, shared)
    if not moving:
        return None, reason
    title = f"construct it after {shown(tree, block[last])}"
    if _renames_entries(moving, block[last], shared):
        return None, "the move wraps the model, too, and what would come after it reads the entries of the model"
    if any(hasattr(statement, "body") for statement in moving) and independent(tree, block, first, last, shared):
        moving = list(block[first:last])  # the same as moving that one line up: far less changes
        title = f"move {shown(tree, block[last])} ahead of it"
    edit = MoveStatements(tree.path, tuple(tree.span(statement) for statement in moving), tree.span(block[last]))
    return Fix(title, (edit,)), ""


def moved_ahead(restored: ProgramPoint, late: ProgramPoint) -> Fix | None:
    """Return the fix that places a model's move before the adjacent statement that restores an optimizer's state.

    The construction stays: the optimizer keeps its parameters, and its state is loaded to their device.
    """
    for call_frame, later in _shared_levels(restored, late):
        found = common_block(call_frame.tree, call_frame.stmt, later.stmt)
        if found is None or found[1] >= found[2] or restored.state is None:
            continue
        block, first, last = found
        models = model_names(restored, call_frame)
        if _renames_entries(block[first:last], block[last], models):
            continue
        if independent(call_frame.tree, block, first, last, models):
            spans = tuple(call_frame.tree.span(statement) for statement in block[first:last])
            edit = MoveStatements(call_frame.tree.path, spans, call_frame.tree.span(block[last]))
            return Fix(f"move {shown(call_frame.tree, block[last])} ahead of where the state is loaded", (edit,))
    return None


def _renames_entries(moving: Sequence[ast.stmt], late: ast.stmt, models: set[str]) -> bool:
    """Return whether a move also wraps a model, ``net = DataParallel(net).cuda()``, whose entries others read."""
    reads_entries = any(
        isinstance(node, ast.Attribute) and text_of(node.value) in models and node.attr not in _OF_ANY_WRAPPER
        for statement in moving
        for node in walk(statement)
    )
    return reads_entries and any(_wraps(node, models) for node in walk(late))


_OF_ANY_WRAPPER = frozenset("parameters train eval zero_grad".split())


def _wraps(node: ast.AST, models: set[str]) -> bool:
    if not isinstance(node, ast.Assign) or not any(text_of(target) in models for target in node.targets):
        return False
    calls = (inner for inner in walk(node.value) if isinstance(inner, ast.Call))
    return any(text_of(argument) in models for call in calls for argument in call.args)


def _with_parameters(tree: SourceTree, block: list[ast.stmt], first: int) -> int:
    """Return the index of the separate statement that collects the parameters for the construction, if there is one."""
    for index in range(first - 1, -1, -1):
        if touches(reach(tree, block[index]).writes, reach(tree, block[first]).reads):
            names = {node.attr for node in ast.walk(block[index]) if isinstance(node, ast.Attribute)}
            return index if names & {"parameters", "named_parameters"} and not hasattr(block[index], "body") else first
    return first


def _after_moves(
    observations: Observations, call_frame: CallFrame, block: list[ast.stmt], first: int, last: int
) -> int:
    """Return the index of the last move after a replacement: the optimizer belongs after it as well."""
    tree = call_frame.tree
    writes, reads = reach(tree, block[first]).writes, reach(tree, block[first]).reads
    moves = {
        id(inner.stmt)
        for point in observations.moves
        for inner in point.call_stack
        if inner.activation.node is call_frame.activation.node
    }
    best = last
    for index in range(last + 1, len(block)):
        if touches(reach(tree, block[index]).reads, writes):
            break
        if any(id(node) in moves for node in ast.walk(block[index])) and touches(reads, _moved(block[index])):
            best = index
    return best


def _moved(statement: ast.stmt) -> set[str]:
    """Return the receivers of ``.to`` and ``.cuda`` in a statement."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return {ast.unparse(func.value) for func in calls if isinstance(func, ast.Attribute)}


def model_names(built: ProgramPoint, call_frame: CallFrame) -> set[str]:
    """Return the names of modules in a frame, at a construction."""
    assert built.state is not None
    modules = {key for key, obj in built.state.heap_objects() if isinstance(obj, (Module, Opaque))}
    return set(module_names(built, call_frame, modules))
