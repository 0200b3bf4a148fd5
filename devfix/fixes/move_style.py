"""How a program writes its moves: the method, its arguments, and the condition around them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.transfer.device_arguments import MOVE_METHODS
from devfix.fixes.device_expression import FOR_BATCH, Query, device_expression
from devfix.fixes.insertion_point import all_live
from devfix.fixes.tensors.misplaced_items import MisplacedItem
from devfix.fixes.value_scope import ValueScope

__all__ = ["Move", "device_for_batch", "last_move", "move_of", "style_at"]

_METHODS_WITH_DEVICE = ("to", "to_empty")


class Move:
    """One move of the program: its method, its arguments, and the condition around it."""

    def __init__(self, point: ProgramPoint) -> None:
        self.point = point
        call = point.node
        self.method = "to"
        self.arguments = ""
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute):
                self.method = call.func.attr
            self.arguments = ", ".join(
                [point.tree.source(argument) for argument in call.args if not _is_dtype(argument)]
                + [
                    f"{keyword.arg}={point.tree.source(keyword.value)}"
                    for keyword in call.keywords
                    if keyword.arg not in ("dtype", "memory_format", None)
                ]
            )
        self.guard = _guard(point)

    @property
    def legacy(self) -> bool:
        """Whether the program moves with ``.cuda()``."""
        return self.method == "cuda"

    def trailer(self) -> str:
        """Return ``.to(device)`` or ``.cuda()``, as the program writes it."""
        return f".{self.method}({self.arguments})"


def _is_dtype(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and "float" in node.attr) or "dtype" in ast.unparse(node)


def _guard(point: ProgramPoint) -> ast.If | ast.IfExp | None:
    """Return the innermost ``if`` without ``else`` whose body contains the move."""
    tree = point.tree
    for parent in tree.ancestors(point.node):
        if isinstance(parent, ast.IfExp):
            return parent if any(node is point.node for node in ast.walk(parent.body)) else None
        if isinstance(parent, ast.stmt):
            break
    for parent in tree.ancestors(point.stmt):
        if isinstance(parent, ast.If):
            inside = any(point.stmt is node for branch in parent.body for node in ast.walk(branch))
            return parent if inside and not parent.orelse else None
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            return None
    return None


def move_of(point: ProgramPoint | None) -> Move | None:
    """Return the move at a program point; ``None`` if there is no call."""
    return Move(point) if point is not None and isinstance(point.node, ast.Call) else None


def last_move(moves: Iterable[ProgramPoint], before: int) -> Move | None:
    """Return the latest move up to a time that names its device, which ``DataParallel(net)`` does not."""
    earlier = [point for point in moves if point.time <= before and _names_its_device(point.node)]
    return move_of(max(earlier, key=lambda point: point.time)) if earlier else None


def _names_its_device(node: ast.AST) -> bool:
    """Return whether a node calls a method whose arguments, or whose name, say where the receiver goes."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in _METHODS_WITH_DEVICE or node.func.attr in MOVE_METHODS)
    )


def style_at(
    observations: Observations, point: ProgramPoint, misplaced: MisplacedItem, call_frame: CallFrame | None = None
) -> tuple[str, str | None] | None:
    """Return how a function moves a batch item: the code to append, and the condition around it."""
    call_frame = call_frame or point.call_frame
    move = last_move(observations.moves, misplaced.mismatches[0].point.time)
    if move is not None and move.legacy:
        legacy = _legacy(point, call_frame, move)
        if legacy is not None:
            return legacy
    device = device_for_batch(observations, point, misplaced, call_frame)
    if device is None:
        return None
    return (
        f".to({device}, non_blocking=True)" if _overlaps(observations, point, misplaced) else f".to({device})"
    ), None


def device_for_batch(
    observations: Observations, point: ProgramPoint, misplaced: MisplacedItem, call_frame: CallFrame | None = None
) -> str | None:
    """Return an expression for the device of a batch item, preferably as in the last move of a module."""
    move = last_move(observations.moves, misplaced.mismatches[0].point.time)
    modules = frozenset(
        operand.module.id for mismatch in misplaced.mismatches for operand in mismatch.accelerator if operand.module
    )
    query = Query(like=move.arguments if move is not None else None, modules=modules)
    return device_expression(ValueScope(observations, point, call_frame or point.call_frame), FOR_BATCH, query)


def _overlaps(observations: Observations, point: ProgramPoint, misplaced: MisplacedItem) -> bool:
    """Return whether a new move gets ``non_blocking=True``: as the file's other moves of batches, or if it has none.

    A tensor that the program creates is not in pinned memory: it gets the argument only if other data does.
    """
    made = observations.sources[misplaced.site_id].kind == "made"
    others = [
        transfer
        for transfer in observations.transfers
        if transfer.device == "accelerator" and transfer.point.tree is point.tree
        if transfer.origin.kind == "batch" or (made and transfer.origin.kind == "made")
    ]
    return (not others and not made) or any("non_blocking" in Move(transfer.point).arguments for transfer in others)


def _legacy(point: ProgramPoint, call_frame: CallFrame, move: Move) -> tuple[str, str | None] | None:
    call = move.point.node
    assert isinstance(call, ast.Call)
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(all_live(point, call_frame, part) for part in parts):
        return None
    if move.guard is None:
        return move.trailer(), None
    if not all_live(point, call_frame, move.guard.test):
        return None
    guard = move.point.tree.source(move.guard.test)
    inside = any(
        isinstance(parent, ast.If) and ast.unparse(parent.test) == ast.unparse(move.guard.test)
        for parent in point.tree.ancestors(call_frame.stmt)
    )
    return move.trailer(), None if inside else guard
