"""The words of a move: how the program writes it, at the level where it is to stand."""

from __future__ import annotations

import ast

from devfix.analysis import Observations
from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import asks_for_accelerator
from devfix.fixes.insertion_point import Move, all_live, device_at, enclosing, last_move, move_of, same_function
from devfix.fixes.statement_range import ModuleMove

__all__ = ["module_move_at"]


def module_move_at(
    observations: Observations, mismatch: DeviceMismatch, call_frame: CallFrame, partly: ProgramPoint | None = None
) -> ModuleMove | None:
    """How a module is moved at this level; ``None`` where nothing there names the accelerator.

    ``partly`` is the move that the module itself has on another path.
    """
    sibling = _sibling(observations, call_frame, partly)
    if sibling is not None and not observations.preferred_device:
        move = Move(sibling)
        guard = move.guard if move.guard is not None and asks_for_accelerator(move.guard.test) else None
        test = move.point.tree.source(guard.test) if isinstance(guard, ast.If) else None
        return ModuleMove(_trailer(move), test, guard if isinstance(guard, ast.IfExp) else None, sibling, _names(move))
    return _from_elsewhere(observations, mismatch, call_frame, sibling)


def _sibling(observations: Observations, call_frame: CallFrame, partly: ProgramPoint | None) -> ProgramPoint | None:
    """A move in the same function: the one that the whole has on another path, else the last one."""
    moves = [
        point
        for point in observations.moves
        if same_function(point.call_frame, call_frame) and isinstance(point.node, ast.Call)
    ]
    return max(moves, key=lambda point: (point is partly, point.time), default=None)


def _from_elsewhere(
    observations: Observations, mismatch: DeviceMismatch, call_frame: CallFrame, sibling: ProgramPoint | None
) -> ModuleMove | None:
    point = mismatch.point
    tensors = [transfer.point for transfer in observations.transfers if transfer.device == "accelerator"]
    near = [transfer for transfer in tensors if same_function(transfer.call_frame, call_frame)]
    move = move_of(sibling) or last_move(near, point.time) or last_move(observations.moves, point.time)
    move = move or last_move(tensors, point.time)
    if move is not None and move.legacy and not observations.preferred_device:
        return _legacy(move, point, call_frame)
    like = _device_of(move)
    device = device_at(point, call_frame, observations.preferred_device, like=like)
    if device is None:
        device = like if like is not None and _is_literal(like) else _literal(call_frame)
    return ModuleMove(f".to({device})", None, None, sibling, _roots(device)) if device is not None else None


def _legacy(move: Move, point: ProgramPoint, call_frame: CallFrame) -> ModuleMove | None:
    call = move.point.node
    assert isinstance(call, ast.Call)
    if not all(all_live(point, call_frame, argument) for argument in call.args):
        return None
    trailer = f".cuda({', '.join(move.point.tree.source(argument) for argument in call.args)})"
    names = {name for argument in call.args for name in _roots(ast.unparse(argument))}
    test = _asked(move)
    if test is None:
        return ModuleMove(trailer, None, None, None, frozenset(names))
    if not all_live(point, call_frame, test):
        return None
    return ModuleMove(trailer, move.point.tree.source(test), None, None, frozenset(names | _roots(ast.unparse(test))))


def _asked(move: Move) -> ast.expr | None:
    """The question for an accelerator that stands ahead of a move, in its function or where that is called."""
    if move.guard is not None:
        return move.guard.test if asks_for_accelerator(move.guard.test) else None
    for call_frame in reversed(move.point.call_stack):
        for guard in enclosing(call_frame.tree, call_frame.stmt, (ast.If,)):
            if isinstance(guard, ast.If) and asks_for_accelerator(guard.test) and _in_body(guard, call_frame.stmt):
                return guard.test
    return None


def _in_body(guard: ast.If, statement: ast.stmt) -> bool:
    return any(node is statement for branch in guard.body for node in ast.walk(branch))


def _trailer(move: Move) -> str:
    """The move as a module takes it: ``non_blocking`` is for tensors."""
    call = move.point.node
    if move.legacy and isinstance(call, ast.Call):
        return f".cuda({', '.join(move.point.tree.source(argument) for argument in call.args)})"
    return move.trailer()


def _names(move: Move) -> frozenset[str]:
    call = move.point.node
    assert isinstance(call, ast.Call)
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if move.guard is not None and asks_for_accelerator(move.guard.test):
        parts.append(move.guard.test)
    return frozenset(name for part in parts for name in _roots(ast.unparse(part)))


def _device_of(move: Move | None) -> str | None:
    if move is None or not isinstance(move.point.node, ast.Call):
        return None
    call, tree = move.point.node, move.point.tree
    for keyword in call.keywords:
        if keyword.arg == "device":
            return tree.source(keyword.value)
    return tree.source(call.args[0]) if call.args else None


def _is_literal(text: str) -> bool:
    try:
        return isinstance(ast.parse(text, mode="eval").body, ast.Constant)
    except SyntaxError:
        return False


def _literal(call_frame: CallFrame) -> str | None:
    """``"cuda"`` where the file itself says ``device="cuda"`` and has no name for it."""
    for node in call_frame.tree.nodes:
        constant = node.value if isinstance(node, ast.keyword) and node.arg == "device" else None
        if isinstance(constant, ast.Constant) and parse_device(str(constant.value)) == ACCELERATOR:
            return call_frame.tree.source(constant)
    return None


def _roots(text: str) -> frozenset[str]:
    """The names that must be bound for an expression: ``device``, ``self.device``."""
    found = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            found.add(ast.unparse(node))
    return frozenset(found)
