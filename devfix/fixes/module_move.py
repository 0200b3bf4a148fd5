"""How a module is moved in a frame: the call, its condition, and the move that it resembles."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import asks_for_accelerator
from devfix.fixes.device_expression import FOR_MODULE, Query, device_expression
from devfix.fixes.insertion_point import all_live, enclosing, same_function
from devfix.fixes.move_style import Move, last_move, move_of
from devfix.fixes.value_scope import ValueScope, bound_at
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of, walk

__all__ = ["ModuleMove", "is_bound_ahead", "module_move_at"]


@dataclass(frozen=True, eq=False)
class ModuleMove:
    """A move of a module: ``.to(device)``, its condition, and the move that it resembles.

    ``test`` is the condition of an ``if`` statement around it, ``branch`` that of a conditional expression; ``names``
    must be bound before it.
    """

    trailer: str
    test: str | None
    branch: ast.IfExp | None
    sibling: ProgramPoint | None
    names: frozenset[str]

    @property
    def is_unconditional(self) -> bool:
        """Whether the move is unconditional."""
        return self.test is None and self.branch is None

    @property
    def is_chained(self) -> bool:
        """Whether the sibling is moved in the assignment of its name: ``net = Net().to(device)``."""
        call = self.sibling.node if self.sibling is not None else None
        if self.sibling is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return False
        if isinstance(call.func.value, ast.Call):
            return True
        stmt = self.sibling.stmt
        return isinstance(stmt, ast.Assign) and stmt.value is call and not _names_one(stmt, call.func.value)

    @property
    def is_statement(self) -> bool:
        """Whether a separate statement moves the sibling."""
        return self.sibling is not None and not self.is_chained

    @property
    def is_assigned(self) -> bool:
        """Whether the sibling's move is assigned: ``model = model.to(device)``."""
        return self.is_statement and self.sibling is not None and isinstance(self.sibling.stmt, ast.Assign)

    def statement(self, name: str) -> str:
        """Return the move of ``name`` as a statement."""
        if self.branch is not None:
            return f"{name} = {name}{self.trailer} if {ast.unparse(self.branch.test)} else {name}"
        code = f"{name} = {name}{self.trailer}" if self.is_assigned else f"{name}{self.trailer}"
        return code if self.test is None else f"if {self.test}:\n    {code}"

    def is_bound_before(self, call_frame: CallFrame, statement: ast.stmt) -> bool:
        """Return whether every name of the move is bound before a statement."""
        return all(is_bound_ahead(call_frame, statement, name) for name in self.names)


def _names_one(stmt: ast.Assign, receiver: ast.expr) -> bool:
    return any(ast.unparse(target) == ast.unparse(receiver) for target in stmt.targets)


def is_bound_ahead(call_frame: CallFrame, statement: ast.stmt, name: str) -> bool:
    if "." not in name:
        return bound_at(CallFrame(call_frame.activation, statement), name)
    nodes = ast.walk(call_frame.activation.node)
    stores = [node.lineno for node in nodes if isinstance(node, ast.Attribute) and _stores(node, name)]
    if not stores or isinstance(call_frame.activation.node, ast.Module):
        return True
    return min(stores) < statement.lineno


def _stores(node: ast.Attribute, name: str) -> bool:
    return isinstance(node.ctx, ast.Store) and ast.unparse(node) == name


def module_move_at(
    observations: Observations,
    mismatch: DeviceMismatch,
    call_frame: CallFrame,
    conditional_move: ProgramPoint | None = None,
) -> ModuleMove | None:
    """Return how to move a module in a frame; ``None`` if nothing there names the accelerator.

    ``conditional_move`` is the move of the module itself on another path.
    """
    sibling = _sibling(observations, call_frame, conditional_move)
    if sibling is not None and not observations.preferred_device:
        move = Move(sibling)
        guard = move.guard if move.guard is not None and asks_for_accelerator(move.guard.test) else None
        test = move.point.tree.source(guard.test) if isinstance(guard, ast.If) else None
        return ModuleMove(_trailer(move), test, guard if isinstance(guard, ast.IfExp) else None, sibling, _names(move))
    return _from_elsewhere(observations, mismatch, call_frame, sibling)


def _sibling(
    observations: Observations, call_frame: CallFrame, conditional_move: ProgramPoint | None
) -> ProgramPoint | None:
    """Return a move in the same function: the root module's on another path, else the last one."""
    moves = [
        point
        for point in observations.moves
        if same_function(point.call_frame, call_frame)
        and isinstance(point.node, ast.Call)
        and not _returns_to_saved_device(point)
    ]
    return max(moves, key=lambda point: (point is conditional_move, point.time), default=None)


def _returns_to_saved_device(point: ProgramPoint) -> bool:
    """Return whether a module goes back to where it was, which says nothing of others: ``vae.to(vae_device)``."""
    call = point.node
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or len(call.args) != 1
        or not isinstance(call.args[0], ast.Name)
    ):
        return False
    return (call.args[0].id, f"{text_of(call.func.value)}.device") in _saved_devices(point.call_frame.activation.node)


@node_cache(8192)
def _saved_devices(function: ast.AST) -> frozenset[tuple[str, str]]:
    """Return the names that a function gives to devices of objects, each with the expression: ``d = vae.device``."""
    return frozenset(
        (node.targets[0].id, text_of(node.value))
        for node in walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "device"
    )


def _from_elsewhere(
    observations: Observations, mismatch: DeviceMismatch, call_frame: CallFrame, sibling: ProgramPoint | None
) -> ModuleMove | None:
    point = mismatch.point
    tensors = [transfer.point for transfer in observations.transfers if transfer.device == "accelerator"]
    near = [transfer for transfer in tensors if same_function(transfer.call_frame, call_frame)]
    moves = [each for each in observations.moves if not _returns_to_saved_device(each)]
    move = move_of(sibling) or last_move(near, point.time) or last_move(moves, point.time)
    move = move or last_move(tensors, point.time)
    if move is not None and move.legacy and not observations.preferred_device:
        return _legacy(move, point, call_frame)
    scope = ValueScope(observations, point, call_frame)
    device = device_expression(scope, FOR_MODULE, Query(like=_device_of(move)))
    test = _asked(move) if move is not None and device is not None and _is_text(device) else None
    if test is not None and move is not None:  # what is beside it moves only where there is an accelerator
        guard = move.point.tree.source(test) if all_live(point, call_frame, test) else None
        return None if guard is None else ModuleMove(f".to({device})", guard, None, None, _roots(ast.unparse(test)))
    return ModuleMove(f".to({device})", None, None, sibling, _roots(device)) if device is not None else None


def _is_text(device: str) -> bool:
    """Return whether an expression for a device is a literal, which is right on machines with an accelerator only."""
    return isinstance(ast.parse(device, mode="eval").body, ast.Constant)


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
    """Return the condition on the accelerator around a move, in its function or in a caller."""
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
    """Return the call without ``non_blocking``, which is for tensors."""
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


def _roots(text: str) -> frozenset[str]:
    """Return the names that an expression needs: ``device``, ``self.device``."""
    found = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            found.add(ast.unparse(node))
    return frozenset(found)
