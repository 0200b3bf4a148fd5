"""Distributed programs: expressions that use accelerator 0 in every process, and the local rank that replaces it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Number, Pointer, Text, Unknown
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scenarios import device_argument_of
from devfix.analysis.scopes import visible
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.move_style import Move
from devfix.fixes.value_scope import bound_at
from devfix.model import Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.bindings import binds
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["FixedIndexUse", "fixed_index_uses", "index_edits", "local_rank_at", "set_device_edit"]

_RANK_NAMES = ("local_rank", "localrank", "LOCAL_RANK")
_OWNERS = ("self", "args", "opt", "cfg", "config", "hparams", "trainer")


@dataclass(frozen=True, eq=False)
class FixedIndexUse:
    """An expression that uses accelerator 0 in every process.

    ``literal`` is the literal with the index (``"cuda:0"``, ``0``), or ``None`` if the expression means the current
    accelerator.
    """

    point: ProgramPoint
    node: ast.expr
    literal: ast.expr | None
    mismatch: DeviceMismatch


def fixed_index_uses(observations: Observations) -> Iterator[FixedIndexUse]:
    """Yield each expression on accelerator 0 whose value is used with values of the process's own accelerator."""
    scenario = observations.multi_accelerator
    if scenario is None or not scenario.is_distributed:
        return
    found: dict[ast.AST, FixedIndexUse] = {}
    for mismatch in scenario.mismatches:
        after_set_device = scenario.set_current is not None and scenario.set_current.time < mismatch.point.time
        for operand in mismatch.cpu if after_set_device else mismatch.accelerator:
            use = _fixed_index_use(scenario, mismatch, operand)
            if use is not None:
                found.setdefault(use.literal or use.node, use)
    yield from found.values()


def _fixed_index_use(scenario: Observations, mismatch: DeviceMismatch, operand: Operand) -> FixedIndexUse | None:
    point: ProgramPoint | None = None
    calls = list(scenario.device_assignments)
    state = mismatch.point.state
    if operand.module is not None and state is not None:
        point = state.heap_object(operand.module).last_moved_at
    elif operand.origins and operand.origins[0].kind == "moved":
        point = next(iter(scenario.device_assignments[calls[operand.origins[0].site_id]].values())).point
    elif operand.text.startswith(("[", "(")):  # device_ids of a wrapper module
        literal = _single_device_id(mismatch.point.node)
        return (
            FixedIndexUse(mismatch.point, literal, _zero_literal(mismatch.point.tree, literal), mismatch)
            if literal is not None
            else None
        )
    if point is None or not isinstance(point.node, ast.Call):
        return None
    device_argument = _device_argument(point.node)
    return FixedIndexUse(
        point, point.node, None if device_argument is None else _zero_literal(point.tree, device_argument), mismatch
    )


def _device_argument(call: ast.Call) -> ast.expr | None:
    """Return the device argument of a move or factory; ``None`` if it means the current accelerator."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda" and call.args:
        return call.args[0]
    return device_argument_of(call)


def _single_device_id(call: ast.AST) -> ast.expr | None:
    """Return the only device in ``device_ids``; ``None`` if there is not exactly one."""
    if not isinstance(call, ast.Call):
        return None
    arguments = [keyword.value for keyword in call.keywords if keyword.arg == "device_ids"] or call.args[1:2]
    ids = arguments[0] if arguments else None
    return ids.elts[0] if isinstance(ids, (ast.List, ast.Tuple)) and len(ids.elts) == 1 else None


def _zero_literal(tree: SourceTree, node: ast.expr, depth: int = 0) -> ast.expr | None:
    """Return the literal with index 0, through plain names.

    ``"cuda:0"``, ``0``, ``0`` of ``torch.device("cuda", 0)``.
    """
    if isinstance(node, ast.Constant):
        return node if node.value in ("cuda:0", 0) and node.value is not False else None
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] == "device" and node.args:
        return _zero_literal(tree, node.args[-1], depth)
    if isinstance(node, ast.IfExp):
        return _zero_literal(tree, node.body, depth)
    if isinstance(node, ast.Name) and depth < 3:
        bindings = [
            stmt.value
            for stmt in tree.nodes
            if isinstance(stmt, ast.Assign) and [text_of(target) for target in stmt.targets] == [node.id]
        ]
        return _zero_literal(tree, bindings[0], depth + 1) if len(bindings) == 1 else None
    return None


# --- local rank -----------------------------------------------------------------------------------------------------
def local_rank_at(observations: Observations, point: ProgramPoint, call_frame: CallFrame) -> str | None:
    """Return an expression for the local rank of the process (``args.local_rank``); ``None`` if there is none."""
    names = visible(point, call_frame)
    plain = [name for name in names if name.lower() in ("local_rank", "localrank")]
    plain += [name for name, value in names.items() if _is_rank(value) and name not in plain]
    for name in plain:
        if _may_be_index(names[name]) and bound_at(call_frame, name):
            return name
    for owner in _OWNERS:
        text = f"{owner}.local_rank"
        if owner in names and bound_at(call_frame, owner) and _has_local_rank(point, call_frame, text):
            return text
    return None


def _is_rank(value: object) -> bool:
    """Whether a value is ``LOCAL_RANK`` or the first argument of a function started by a launcher."""
    symbol = getattr(value, "symbol", "") if isinstance(value, (Number, Text, Unknown)) else ""
    return isinstance(value, Number) and (symbol == "rank" or any(word in symbol for word in _RANK_NAMES))


def _may_be_index(value: object) -> bool:
    return isinstance(value, (Number, Unknown))


def _has_local_rank(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    owner, name = text.split(".")
    value = visible(point, call_frame)[owner]
    if isinstance(value, Pointer) and point.state is not None:
        attribute = point.state.heap_object(value).fields.get(name)
        return attribute is not None and _may_be_index(attribute)
    return text in call_frame.tree.text


# --- edits ----------------------------------------------------------------------------------------------------------
def index_edits(use: FixedIndexUse, rank: str) -> Iterator[Edit]:
    """Yield edits that replace ``"cuda:0"`` and ``0`` by the local rank, in ``output_device`` as well."""
    tree = use.point.tree
    literals = [use.literal]
    if use.literal is use.node and isinstance(use.mismatch.point.node, ast.Call):
        keywords = use.mismatch.point.node.keywords
        literals += [_zero_literal(tree, keyword.value) for keyword in keywords if keyword.arg == "output_device"]
    for node in literals:
        if isinstance(node, ast.Constant):
            code = rank if node.value == 0 else f'f"cuda:{{{rank}}}"'
            yield ReplaceExpression(tree.path, tree.span(node), code)


def set_device_edit(observations: Observations, use: FixedIndexUse) -> Edit | None:
    """Return ``torch.cuda.set_device(local_rank)``, inserted after the rank is bound and before the first use."""
    for call_frame in reversed(use.point.call_stack):
        rank = local_rank_at(observations, use.point, call_frame)
        if rank is None or "torch" not in visible(use.point, call_frame):
            continue
        code = f"torch.cuda.set_device({rank})"
        guard = Move(use.point).guard
        if isinstance(guard, ast.If) and call_frame is use.point.call_frame and guard is _outermost(call_frame):
            return InsertStatement(call_frame.tree.path, call_frame.tree.span(guard), Where.BODY_START, code)
        if observations.checks_availability:
            code = f"if torch.cuda.is_available():\n    {code}"
        anchor = _anchor_after(call_frame, rank)
        where = Where.BEFORE if anchor is None else Where.AFTER
        return InsertStatement(
            call_frame.tree.path, call_frame.tree.span(anchor or _outermost(call_frame)), where, code
        )
    return None


def _outermost(call_frame: CallFrame) -> ast.stmt:
    statements = enclosing(call_frame.tree, call_frame.stmt, (ast.stmt,))
    return statements[-1] if statements else call_frame.stmt


def _anchor_after(call_frame: CallFrame, rank: str) -> ast.stmt | None:
    """Return the last statement before the frame's that binds the rank or initializes the process group."""
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
