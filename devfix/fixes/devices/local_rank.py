"""Processes of one machine: which line uses accelerator 0, and what names the process's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Number, Pointer, Text, Unknown
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scenarios import device_words
from devfix.analysis.scopes import visible
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.move_style import Move
from devfix.fixes.value_scope import bound_at
from devfix.model import Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.bindings import binds
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["Stray", "current_edit", "index_edits", "rank_at", "strays"]

_RANKS = ("local_rank", "localrank", "LOCAL_RANK")
_OWNERS = ("self", "args", "opt", "cfg", "config", "hparams", "trainer")


@dataclass(frozen=True, eq=False)
class Stray:
    """A line that uses accelerator 0 in every process.

    ``named`` is the expression that says so (``"cuda:0"``, ``0``), ``None`` where the line means the current one.
    """

    point: ProgramPoint
    node: ast.expr
    named: ast.expr | None
    mismatch: DeviceMismatch


def strays(observations: Observations) -> Iterator[Stray]:
    """What meets the accelerator of its process, or its process group, from accelerator 0: each line once."""
    two = observations.multi_accelerator
    if two is None or not two.distributed:
        return
    found: dict[ast.AST, Stray] = {}
    for mismatch in two.mismatches:
        turned = two.set_current is not None and two.set_current.time < mismatch.point.time
        for operand in mismatch.cpu if turned else mismatch.accelerator:
            stray = _stray(two, mismatch, operand)
            if stray is not None:
                found.setdefault(stray.named or stray.node, stray)
    yield from found.values()


def _stray(two: Observations, mismatch: DeviceMismatch, operand: Operand) -> Stray | None:
    point: ProgramPoint | None = None
    calls = list(two.device_assignments)
    memory = mismatch.point.state
    if operand.module is not None and memory is not None:
        point = memory.heap_object(operand.module).last_moved_at
    elif operand.origins and operand.origins[0].kind == "moved":
        point = next(iter(two.device_assignments[calls[operand.origins[0].site_id]].values())).point
    elif operand.text.startswith(("[", "(")):  # device_ids of a wrapper
        named = _ids(mismatch.point.node)
        return Stray(mismatch.point, named, _zero(mismatch.point.tree, named), mismatch) if named is not None else None
    if point is None or not isinstance(point.node, ast.Call):
        return None
    words = _words(point.node)
    return Stray(point, point.node, None if words is None else _zero(point.tree, words), mismatch)


def _words(call: ast.Call) -> ast.expr | None:
    """What a move, or a factory, says of its device; ``None`` where it means the current accelerator."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda" and call.args:
        return call.args[0]
    return device_words(call)


def _ids(call: ast.AST) -> ast.expr | None:
    """The one device of ``device_ids``."""
    if not isinstance(call, ast.Call):
        return None
    given = [keyword.value for keyword in call.keywords if keyword.arg == "device_ids"] or call.args[1:2]
    listed = given[0] if given else None
    return listed.elts[0] if isinstance(listed, (ast.List, ast.Tuple)) and len(listed.elts) == 1 else None


def _zero(tree: SourceTree, node: ast.expr, depth: int = 0) -> ast.expr | None:
    """The literal that says 0: ``"cuda:0"``, ``0``, the index in ``torch.device("cuda", 0)``; through plain names."""
    if isinstance(node, ast.Constant):
        return node if node.value in ("cuda:0", 0) and node.value is not False else None
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] == "device" and node.args:
        return _zero(tree, node.args[-1], depth)
    if isinstance(node, ast.IfExp):
        return _zero(tree, node.body, depth)
    if isinstance(node, ast.Name) and depth < 3:
        bindings = [
            stmt.value
            for stmt in tree.nodes
            if isinstance(stmt, ast.Assign) and [text_of(target) for target in stmt.targets] == [node.id]
        ]
        return _zero(tree, bindings[0], depth + 1) if len(bindings) == 1 else None
    return None


# --- the process's own number ---------------------------------------------------------------------------------------
def rank_at(observations: Observations, point: ProgramPoint, call_frame: CallFrame) -> str | None:
    """An expression for the number of the process on its machine: ``local_rank``, ``args.local_rank``."""
    names = visible(point, call_frame)
    plain = [name for name in names if name.lower() in ("local_rank", "localrank")]
    plain += [name for name, value in names.items() if _is_rank(value) and name not in plain]
    for name in plain:
        if _may_count(names[name]) and bound_at(call_frame, name):
            return name
    for owner in _OWNERS:
        text = f"{owner}.local_rank"
        if owner in names and bound_at(call_frame, owner) and _has(point, call_frame, text):
            return text
    return None


def _is_rank(value: object) -> bool:
    """The value of ``LOCAL_RANK``, or what a launcher gives as the first argument."""
    symbol = getattr(value, "symbol", "") if isinstance(value, (Number, Text, Unknown)) else ""
    return isinstance(value, Number) and (symbol == "rank" or any(word in symbol for word in _RANKS))


def _may_count(value: object) -> bool:
    return isinstance(value, (Number, Unknown))


def _has(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    owner, name = text.split(".")
    value = visible(point, call_frame)[owner]
    if isinstance(value, Pointer) and point.state is not None:
        held = point.state.heap_object(value).fields.get(name)
        return held is not None and _may_count(held)
    return text in call_frame.tree.text


# --- edits ----------------------------------------------------------------------------------------------------------
def index_edits(stray: Stray, rank: str) -> Iterator[Edit]:
    """``"cuda:0"`` becomes ``f"cuda:{local_rank}"``, ``0`` becomes ``local_rank``; ``output_device`` goes along."""
    tree = stray.point.tree
    literals = [stray.named]
    if stray.named is stray.node and isinstance(stray.mismatch.point.node, ast.Call):
        given = stray.mismatch.point.node.keywords
        literals += [_zero(tree, keyword.value) for keyword in given if keyword.arg == "output_device"]
    for node in literals:
        if isinstance(node, ast.Constant):
            code = rank if node.value == 0 else f'f"cuda:{{{rank}}}"'
            yield ReplaceExpression(tree.path, tree.span(node), code)


def current_edit(observations: Observations, stray: Stray) -> Edit | None:
    """``torch.cuda.set_device(local_rank)``, behind what makes the number known, ahead of the first use."""
    for call_frame in reversed(stray.point.call_stack):
        rank = rank_at(observations, stray.point, call_frame)
        if rank is None or "torch" not in visible(stray.point, call_frame):
            continue
        code = f"torch.cuda.set_device({rank})"
        guard = Move(stray.point).guard
        if isinstance(guard, ast.If) and call_frame is stray.point.call_frame and guard is _outermost(call_frame):
            return InsertStatement(call_frame.tree.path, call_frame.tree.span(guard), Where.BODY_START, code)
        if observations.asks_available:
            code = f"if torch.cuda.is_available():\n    {code}"
        anchor = _behind(call_frame, rank)
        where = Where.BEFORE if anchor is None else Where.AFTER
        return InsertStatement(
            call_frame.tree.path, call_frame.tree.span(anchor or _outermost(call_frame)), where, code
        )
    return None


def _outermost(call_frame: CallFrame) -> ast.stmt:
    around = enclosing(call_frame.tree, call_frame.stmt, (ast.stmt,))
    return around[-1] if around else call_frame.stmt


def _behind(call_frame: CallFrame, rank: str) -> ast.stmt | None:
    """The last statement of the function's body, ahead of the level's, that binds the number or starts the group."""
    first, name = _outermost(call_frame), rank.split(".")[0]
    body = getattr(call_frame.activation.node, "body", [])
    found = None
    for statement in body if isinstance(body, list) else []:
        if statement is first:
            break
        starts = isinstance(statement, ast.Expr) and "init_process_group" in text_of(statement.value)
        if binds(statement, name) or starts:
            found = statement
    return found
