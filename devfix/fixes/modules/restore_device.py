"""Moves of a module back to the accelerator: after the code that needed it on the CPU, or before its next use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import object_at
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import module_names, value_of, visible
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.fixes.insertion_point import all_live, enclosing, inside_module
from devfix.fixes.module_move import ModuleMove, module_move_at
from devfix.fixes.reorder import common_block, reach
from devfix.model import Fix, InsertStatement, Where
from devfix.models.names import MODULE_METHODS
from devfix.syntax.tree import SourceTree

__all__ = ["OffloadedUse", "has_hooks", "restore_fixes", "runs_in_last_iteration"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_EXITS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_LAST_ITERATION_WORDS = ("last", "final", "done", "finish", "end", "stop")


@dataclass(frozen=True, eq=False)
class OffloadedUse:
    """A module that was moved to the CPU at ``moved`` and is used there with accelerator tensors."""

    moved: ProgramPoint
    part: Pointer
    mismatch: DeviceMismatch

    @property
    def call(self) -> ast.Call:
        """The call that moves the module."""
        assert isinstance(self.moved.node, ast.Call)
        return self.moved.node

    @property
    def receiver(self) -> ast.expr:
        """The moved expression as written: ``model`` of ``model.eval().cpu()``."""
        node: ast.expr = self.call
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MODULE_METHODS:
            node = node.func.value
        return node

    @property
    def module_ids(self) -> set[int]:
        """The ids of the moved module and of the part that fails."""
        value = value_of(self.moved, self.moved.call_frame, self.receiver)
        found = (
            {option.id for option in alternatives(value) if isinstance(option, Pointer)} if value is not None else set()
        )
        return found | {self.part.id}

    def name_at(self, call_frame: CallFrame) -> str | None:
        """Return the module's name in a call frame of the move; ``None`` if it has none."""
        if call_frame is self.moved.call_frame:
            return ast.unparse(self.receiver) if _is_plain(self.receiver) else None
        names = module_names(self.moved, call_frame, self.module_ids - {self.part.id} or self.module_ids)
        return names[0] if names else self._container_at(call_frame)

    def _container_at(self, call_frame: CallFrame) -> str | None:
        """Return ``self.model`` of ``self.model.to("cpu")``: a project object that moves its modules itself."""
        call = call_frame.stmt.value if isinstance(call_frame.stmt, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "to":
            return None
        value = value_of(self.moved, call_frame, call.func.value)
        assert self.moved.state is not None
        state = self.moved.state
        is_container = (
            any(object_at(state, o, InstanceObject) is not None for o in alternatives(value)) if value else False
        )
        return ast.unparse(call.func.value) if is_container and _is_plain(call.func.value) else None


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def runs_in_last_iteration(offloaded_use: OffloadedUse) -> bool:
    """Whether the move is under a condition that may hold only in the last iteration of a loop."""
    for call_frame in offloaded_use.moved.call_stack:
        for stmt in enclosing(call_frame.tree, call_frame.stmt, (ast.If,)):
            assert isinstance(stmt, ast.If)
            if _tests_last_iteration(call_frame.tree, stmt):
                return True
    return False


def has_hooks(offloaded_use: OffloadedUse) -> bool:
    """Whether the move is under a condition on hooks, which bring the module back before its next use."""
    return any(
        isinstance(stmt, ast.If) and "hook" in ast.unparse(stmt.test).lower()
        for call_frame in offloaded_use.moved.call_stack
        for stmt in enclosing(call_frame.tree, call_frame.stmt, (ast.If,))
    )


def _tests_last_iteration(tree: SourceTree, stmt: ast.If) -> bool:
    names = [node.id for node in ast.walk(stmt.test) if isinstance(node, ast.Name)]
    names += [node.attr for node in ast.walk(stmt.test) if isinstance(node, ast.Attribute)]
    if any(word in part for name in names for part in name.lower().split("_") for word in _LAST_ITERATION_WORDS):
        return True
    targets = {
        inner.id
        for loop in enclosing(tree, stmt, _LOOPS)
        for inner in ast.walk(getattr(loop, "target", loop.test if isinstance(loop, ast.While) else loop))
        if isinstance(inner, ast.Name)
    }
    for node in ast.walk(stmt.test):
        if isinstance(node, ast.Compare) and not any(isinstance(part, ast.Mod) for part in ast.walk(node)):
            read = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
            is_comparison = any(isinstance(op, (ast.Eq, ast.GtE, ast.Gt, ast.Is)) for op in node.ops)
            if is_comparison and read & targets:
                return True
    return False


def restore_fixes(observations: Observations, offloaded_use: OffloadedUse) -> Iterator[Fix]:
    """Yield moves back to the accelerator, best first.

    They follow the file's other calls of the same function, the code that needs the CPU, or else precede the failing
    use.
    """
    yield from _like_other_calls(offloaded_use)
    after_uses = list(_after_uses(observations, offloaded_use))
    yield from after_uses
    if not after_uses:
        yield from _before_use(observations, offloaded_use)


# --- like other calls -----------------------------------------------------------------------------------------------
def _like_other_calls(offloaded_use: OffloadedUse) -> Iterator[Fix]:
    """Yield the statement that follows every other call of the same function in this file."""
    for call_frame in reversed(offloaded_use.moved.call_stack):
        called = _called_name(call_frame.stmt)
        follower = _follower(call_frame.tree, call_frame.stmt, called) if called is not None else None
        if follower is None or not all_live(offloaded_use.moved, call_frame, follower):
            continue
        code = call_frame.tree.source(follower)
        edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(call_frame.stmt), Where.AFTER, code)
        yield Fix(f"move back like after the other calls of `{called}`: `{code}`", (edit,))


def _called_name(stmt: ast.stmt) -> str | None:
    if not isinstance(stmt, (ast.Expr, ast.Assign)) or not isinstance(stmt.value, ast.Call):
        return None
    func = stmt.value.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else None


def _follower(tree: SourceTree, stmt: ast.stmt, called: str) -> ast.Expr | None:
    """Return the statement after every other call of this function; ``None`` if they differ or there is none."""
    found: dict[str, ast.Expr] = {}
    for other in tree.nodes:
        if not isinstance(other, ast.stmt) or other is stmt or _called_name(other) != called:
            continue
        _, block, index = tree.block(other)
        after = block[index + 1] if index + 1 < len(block) else None
        if not isinstance(after, ast.Expr) or not isinstance(after.value, ast.Call):
            return None
        found[ast.unparse(after)] = after
    return next(iter(found.values())) if len(found) == 1 else None


# --- after the code that needs the CPU ------------------------------------------------------------------------------
def _after_uses(observations: Observations, offloaded_use: OffloadedUse) -> Iterator[Fix]:
    used = False
    for call_frame in reversed(offloaded_use.moved.call_stack):
        name = offloaded_use.name_at(call_frame)
        anchor = _last_use(offloaded_use, call_frame, name) if name is not None and not used else None
        if anchor is None and (used or _is_used_in_statement(offloaded_use, call_frame)):
            anchor = call_frame.stmt
        used |= anchor is not None
        if anchor is None or name is None or inside_module(call_frame) or isinstance(anchor, _EXITS):
            continue
        if anchor is call_frame.stmt and not isinstance(anchor, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)):
            continue
        move = module_move_at(observations, offloaded_use.mismatch, call_frame)
        if move is None or not move.is_bound_before(call_frame, anchor):
            continue
        yield _fix(call_frame, anchor, Where.AFTER, move, name)


def _fix(call_frame: CallFrame, anchor: ast.stmt, where: Where, move: ModuleMove, name: str) -> Fix:
    code = move.statement(name)
    edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(anchor), where, code)
    return Fix(f"move `{name}` back: `{code.splitlines()[-1].strip()}`", (edit,))


def _is_used_in_statement(offloaded_use: OffloadedUse, call_frame: CallFrame) -> bool:
    """Whether the statement of the move itself needs the CPU: ``torch.save(model.cpu().state_dict(), path)``."""
    if call_frame is not offloaded_use.moved.call_frame:
        return False
    stmt = call_frame.stmt
    if not isinstance(stmt, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)):
        return True
    return stmt.value is not offloaded_use.call


def _last_use(offloaded_use: OffloadedUse, call_frame: CallFrame, name: str) -> ast.stmt | None:
    """Return the last statement of the move's block that uses the module before the failing one."""
    tree, stmt = call_frame.tree, call_frame.stmt
    _, block, index = tree.block(stmt)
    limit = len(block)
    for other in offloaded_use.mismatch.point.call_stack:
        if other.activation is call_frame.activation:
            common = common_block(tree, stmt, other.stmt)
            if common is not None and common[0] is block and common[2] > index:
                limit = common[2]
    names = {name, *_aliases(offloaded_use, stmt)}
    uses = [later for later in block[index + 1 : limit] if _reads(tree, later, names)]
    return uses[-1] if uses else None


def _aliases(offloaded_use: OffloadedUse, stmt: ast.stmt) -> set[str]:
    """Return aliases of the module: ``host`` of ``host = model.cpu()``."""
    targets = stmt.targets if isinstance(stmt, ast.Assign) and stmt.value is offloaded_use.call else []
    return {ast.unparse(target) for target in targets if isinstance(target, (ast.Name, ast.Attribute))}


def _reads(tree: SourceTree, stmt: ast.stmt, names: set[str]) -> bool:
    return bool(reach(tree, stmt).reads & names)


# --- before the failing use -----------------------------------------------------------------------------------------
def _before_use(observations: Observations, offloaded_use: OffloadedUse) -> Iterator[Fix]:
    point = offloaded_use.mismatch.point
    for call_frame in reversed(point.call_stack):
        names = module_names(
            point, call_frame, offloaded_use.module_ids - {offloaded_use.part.id} or offloaded_use.module_ids
        )
        if not names or inside_module(call_frame):
            continue
        move = module_move_at(observations, offloaded_use.mismatch, call_frame)
        anchor = _outside_loops(offloaded_use, call_frame)
        if move is not None and move.is_bound_before(call_frame, anchor) and _is_bound(point, call_frame, names[0]):
            yield _fix(call_frame, anchor, Where.BEFORE, move, names[0])


def _is_bound(point: ProgramPoint, call_frame: CallFrame, name: str) -> bool:
    return name.split(".")[0] in visible(point, call_frame)


def _outside_loops(offloaded_use: OffloadedUse, call_frame: CallFrame) -> ast.stmt:
    """Return the outermost loop around the use that does not contain the move.

    The search stops at a loop with another inner loop: the module is then kept on the CPU to free memory.
    """
    anchor = call_frame.stmt
    for loop in enclosing(call_frame.tree, call_frame.stmt, _LOOPS):
        if any(
            other.activation is call_frame.activation and other.stmt in ast.walk(loop)
            for other in offloaded_use.moved.call_stack
        ):
            break
        inner = (node for node in ast.walk(loop) if isinstance(node, _LOOPS) and node is not loop)
        if any(call_frame.stmt not in ast.walk(other) for other in inner):
            break
        anchor = loop
    return anchor
