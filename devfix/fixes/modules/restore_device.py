"""Bringing a module back: behind what it was sent to the CPU for, or ahead of the use that finds it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import module_names, value_of, visible
from devfix.fixes.insertion_point import all_live, enclosing, inside_module
from devfix.fixes.module_move import ModuleMove, module_move_at
from devfix.fixes.reorder import common_block, reach
from devfix.model import Fix, InsertStatement, Where
from devfix.syntax.tree import SourceTree

__all__ = ["Absence", "fixes", "runs_last"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_LAST_WORDS = ("last", "final", "done", "finish", "end", "stop")


@dataclass(frozen=True, eq=False)
class Absence:
    """A module was sent to the CPU at ``moved`` and is met there by values on the accelerator."""

    moved: ProgramPoint
    part: Pointer
    mismatch: DeviceMismatch

    @property
    def call(self) -> ast.Call:
        """The move."""
        assert isinstance(self.moved.node, ast.Call)
        return self.moved.node

    @property
    def receiver(self) -> ast.expr:
        """What is moved, as it is written: ``model`` of ``model.eval().cpu()``."""
        node: ast.expr = self.call
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        return node

    @property
    def wanted(self) -> set[int]:
        """The module that was moved, and the part that is met."""
        value = value_of(self.moved, self.moved.call_frame, self.receiver)
        found = (
            {option.id for option in alternatives(value) if isinstance(option, Pointer)} if value is not None else set()
        )
        return found | {self.part.id}

    def name_at(self, call_frame: CallFrame) -> str | None:
        """What a level of the move's stack calls the module."""
        if call_frame is self.moved.call_frame:
            return ast.unparse(self.receiver) if _is_plain(self.receiver) else None
        names = module_names(self.moved, call_frame, self.wanted - {self.part.id} or self.wanted)
        return names[0] if names else self._container_at(call_frame)

    def _container_at(self, call_frame: CallFrame) -> str | None:
        """``self.model`` of ``self.model.to("cpu")``: an object of the project that moves its modules itself."""
        call = call_frame.stmt.value if isinstance(call_frame.stmt, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "to":
            return None
        value = value_of(self.moved, call_frame, call.func.value)
        assert self.moved.state is not None
        memory = self.moved.state
        held = (
            any(isinstance(o, Pointer) and memory.heap_object(o).kind == "instance" for o in alternatives(value))
            if value
            else False
        )
        return ast.unparse(call.func.value) if held and _is_plain(call.func.value) else None


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def runs_last(absence: Absence) -> bool:
    """Whether the move stands under a condition that may hold in the last round of a loop only."""
    for call_frame in absence.moved.call_stack:
        for stmt in enclosing(call_frame.tree, call_frame.stmt, (ast.If,)):
            assert isinstance(stmt, ast.If)
            if _asks_for_the_end(call_frame.tree, stmt):
                return True
    return False


def _asks_for_the_end(tree: SourceTree, stmt: ast.If) -> bool:
    words = [node.id for node in ast.walk(stmt.test) if isinstance(node, ast.Name)]
    words += [node.attr for node in ast.walk(stmt.test) if isinstance(node, ast.Attribute)]
    if any(word in part for name in words for part in name.lower().split("_") for word in _LAST_WORDS):
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
            ordered = any(isinstance(op, (ast.Eq, ast.GtE, ast.Gt, ast.Is)) for op in node.ops)
            if ordered and read & targets:
                return True
    return False


def fixes(observations: Observations, absence: Absence) -> Iterator[Fix]:
    """As other places of the file do it, behind what needed the CPU, or (nothing needed it) ahead of the use."""
    yield from _as_elsewhere(absence)
    behind = list(_behind_uses(observations, absence))
    yield from behind
    if not behind:
        yield from _ahead_of_use(observations, absence)


# --- as elsewhere -----------------------------------------------------------------------------------------------------
def _as_elsewhere(absence: Absence) -> Iterator[Fix]:
    """Where every other call of the same name in this file is followed by one and the same call, so is this one."""
    for call_frame in reversed(absence.moved.call_stack):
        called = _called(call_frame.stmt)
        follower = _follower(call_frame.tree, call_frame.stmt, called) if called is not None else None
        if follower is None or not all_live(absence.moved, call_frame, follower):
            continue
        code = call_frame.tree.source(follower)
        edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(call_frame.stmt), Where.AFTER, code)
        yield Fix(f"do as behind the other calls of `{called}`: `{code}`", (edit,))


def _called(stmt: ast.stmt) -> str | None:
    if not isinstance(stmt, (ast.Expr, ast.Assign)) or not isinstance(stmt.value, ast.Call):
        return None
    func = stmt.value.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else None


def _follower(tree: SourceTree, stmt: ast.stmt, called: str) -> ast.Expr | None:
    """The statement behind every other call of this name; ``None`` where they differ or there is no other."""
    found: dict[str, ast.Expr] = {}
    for other in tree.nodes:
        if not isinstance(other, ast.stmt) or other is stmt or _called(other) != called:
            continue
        _, block, index = tree.block(other)
        after = block[index + 1] if index + 1 < len(block) else None
        if not isinstance(after, ast.Expr) or not isinstance(after.value, ast.Call):
            return None
        found[ast.unparse(after)] = after
    return next(iter(found.values())) if len(found) == 1 else None


# --- behind what needed the CPU ---------------------------------------------------------------------------------------
def _behind_uses(observations: Observations, absence: Absence) -> Iterator[Fix]:
    used = False
    for call_frame in reversed(absence.moved.call_stack):
        name = absence.name_at(call_frame)
        anchor = _last_use(absence, call_frame, name) if name is not None and not used else None
        if anchor is None and (used or _serves_at_once(absence, call_frame)):
            anchor = call_frame.stmt
        used |= anchor is not None
        if anchor is None or name is None or inside_module(call_frame) or isinstance(anchor, _LEAVES):
            continue
        if anchor is call_frame.stmt and not isinstance(anchor, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)):
            continue
        words = module_move_at(observations, absence.mismatch, call_frame)
        if words is None or not words.ready(call_frame, anchor):
            continue
        yield _fix(call_frame, anchor, Where.AFTER, words, name)


def _fix(call_frame: CallFrame, anchor: ast.stmt, where: Where, words: ModuleMove, name: str) -> Fix:
    code = words.statement(name)
    edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(anchor), where, code)
    return Fix(f"move `{name}` back: `{code.splitlines()[-1].strip()}`", (edit,))


def _serves_at_once(absence: Absence, call_frame: CallFrame) -> bool:
    """``torch.save(model.cpu().state_dict(), path)``: the statement of the move is what needs the CPU."""
    if call_frame is not absence.moved.call_frame:
        return False
    stmt = call_frame.stmt
    if not isinstance(stmt, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)):
        return True
    return stmt.value is not absence.call


def _last_use(absence: Absence, call_frame: CallFrame, name: str) -> ast.stmt | None:
    """The last statement of the move's block that speaks of the module, ahead of the one that fails."""
    tree, stmt = call_frame.tree, call_frame.stmt
    _, block, index = tree.block(stmt)
    limit = len(block)
    for other in absence.mismatch.point.call_stack:
        if other.activation is call_frame.activation:
            common = common_block(tree, stmt, other.stmt)
            if common is not None and common[0] is block and common[2] > index:
                limit = common[2]
    names = {name, *_other_names(absence, stmt)}
    spoken = [later for later in block[index + 1 : limit] if _speaks_of(tree, later, names)]
    return spoken[-1] if spoken else None


def _other_names(absence: Absence, stmt: ast.stmt) -> set[str]:
    """``host`` of ``host = model.cpu()``: the model by another name."""
    targets = stmt.targets if isinstance(stmt, ast.Assign) and stmt.value is absence.call else []
    return {ast.unparse(target) for target in targets if isinstance(target, (ast.Name, ast.Attribute))}


def _speaks_of(tree: SourceTree, stmt: ast.stmt, names: set[str]) -> bool:
    return bool(reach(tree, stmt).reads & names)


# --- ahead of the use -------------------------------------------------------------------------------------------------
def _ahead_of_use(observations: Observations, absence: Absence) -> Iterator[Fix]:
    point = absence.mismatch.point
    for call_frame in reversed(point.call_stack):
        names = module_names(point, call_frame, absence.wanted - {absence.part.id} or absence.wanted)
        if not names or inside_module(call_frame):
            continue
        words = module_move_at(observations, absence.mismatch, call_frame)
        anchor = _outside_loops(absence, call_frame)
        if words is not None and words.ready(call_frame, anchor) and _bound_ahead(point, call_frame, names[0]):
            yield _fix(call_frame, anchor, Where.BEFORE, words, names[0])


def _bound_ahead(point: ProgramPoint, call_frame: CallFrame, name: str) -> bool:
    return name.split(".")[0] in visible(point, call_frame)


def _outside_loops(absence: Absence, call_frame: CallFrame) -> ast.stmt:
    """Ahead of the loops that run the use and not the move: one move is enough for them.

    A loop that has another loop besides the use does without the module for a while, and it was to make room.
    """
    anchor = call_frame.stmt
    for loop in enclosing(call_frame.tree, call_frame.stmt, _LOOPS):
        if any(
            other.activation is call_frame.activation and other.stmt in ast.walk(loop)
            for other in absence.moved.call_stack
        ):
            break
        inner = (node for node in ast.walk(loop) if isinstance(node, _LOOPS) and node is not loop)
        if any(call_frame.stmt not in ast.walk(other) for other in inner):
            break
        anchor = loop
    return anchor
