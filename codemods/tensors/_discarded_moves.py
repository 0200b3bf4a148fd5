"""Moves whose result is discarded.

The tensor gets the move as its origin (``dropped``), so a later mismatch leads back to the move.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import ExpressionStatement, LoopLeft
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis import Interpreter
    from devfix.analysis.domain.location import ProgramPoint

__all__ = ["SUBSCRIPTIONS", "DiscardedMove"]

_MOVES = ("to", "cuda")


@dataclass(frozen=True, eq=False)
class DiscardedMove:
    """A move whose result is discarded.

    Attributes:
        number: identifier, the ``site_id`` of the tensors' origin.
        point: program point of the move.
        stmt: the statement that contains the move.
        call: the move expression.
        target: the unmoved value; for a move of a loop variable, the iterated container.
        loop: the loop, for a move of its variable that is not read afterwards; ``None`` for a move as an expression
            statement.

    """

    number: int
    point: ProgramPoint
    stmt: ast.stmt
    call: ast.Call
    target: ast.expr
    loop: ast.For | ast.AsyncFor | None = None


def _note_statement(interp: Interpreter, observed: ExpressionStatement) -> None:
    """Record ``x.to(device)`` as an expression statement: ``x`` keeps its device."""
    stmt, call, result = observed.stmt, observed.stmt.value, observed.value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES):
        return
    target = call.func.value
    if not _is_target(target) or not isinstance(result, Tensor) or result.device == CPU:
        return
    if _in_dead_loop(interp, stmt):
        return  # recorded for the iterated container
    old = interp.evaluate(target)
    if not isinstance(old, Tensor) or old.device != CPU or not old.is_certain or not _has_cpu_origins(old):
        return
    move = _discarded_move(interp, stmt, call, target)
    interp.observations.record(move, key=stmt)
    if result.device != ACCELERATOR:
        return
    _forget_transfer(interp, call)
    _rebind(interp, target, replace(old, origins=(Origin("dropped", move.number),)))


def _discarded_move(
    interp: Interpreter, stmt: ast.stmt, call: ast.Call, target: ast.expr, loop: ast.For | ast.AsyncFor | None = None
) -> DiscardedMove:
    """Return the record of a statement; a new one if there is none."""
    known = interp.observations.recorded(DiscardedMove, stmt)
    return known or DiscardedMove(interp.new_id(), interp.point(call, with_state=True), stmt, call, target, loop)


def _in_dead_loop(interp: Interpreter, stmt: ast.stmt) -> bool:
    assert interp.activation is not None
    loops = (
        parent
        for parent in interp.activation.module.tree.ancestors(stmt)
        if isinstance(parent, (ast.For, ast.AsyncFor))
    )
    return any(stmt is inner for loop in loops if _iterated(loop) for inner, _ in _dead_moves(loop))


def _is_target(node: ast.expr) -> bool:
    """Return whether an expression is an assignable target: a name, or attributes and constant items of one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _has_cpu_origins(tensor: Tensor) -> bool:
    return bool(tensor.origins) and all(origin.kind in ("batch", "made", "stored") for origin in tensor.origins)


def _forget_transfer(interp: Interpreter, call: ast.Call) -> None:
    interp.observations.transfers[:] = [
        transfer for transfer in interp.observations.transfers if transfer.call is not call
    ]


def _rebind(interp: Interpreter, target: ast.expr, value: Value) -> None:
    """Replace the value of a target without recording an assignment."""
    match target:
        case ast.Name(id=name):
            interp.bind(name, value)
        case ast.Attribute(value=owner, attr=name):
            for option in alternatives(interp.evaluate(owner)):
                if isinstance(option, Pointer) and name in interp.heap_object(option).fields:
                    interp.now.set_field(option, name, value)
        case ast.Subscript(value=owner, slice=key):
            for option in alternatives(interp.evaluate(owner)):
                interp.set_item(option, interp.evaluate(key), value, target)


def _note_loop(interp: Interpreter, left: LoopLeft) -> None:
    """Record moves of the loop variable in ``for t in tensors: t = t.to(device)``: the items keep their device."""
    container = _iterated(left.stmt)
    if container is None or not interp.alive:
        return
    parts = container.elts if isinstance(container, (ast.Tuple, ast.List)) else [container]
    for inner, call in _dead_moves(left.stmt):
        move = _discarded_move(interp, inner, call, container, left.stmt)
        marked = [_mark_discarded(interp, part, move.number) for part in parts if _is_target(part)]
        if any(marked):
            interp.observations.record(move, key=inner)
            _forget_transfer(interp, call)


def _mark_discarded(interp: Interpreter, target: ast.expr, number: int) -> bool:
    """Give the items of a container the origin ``dropped``; return whether any item has changed."""
    value = interp.evaluate(target)
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if not isinstance(obj, Container):
            return False
        marked_object = obj.transformed(lambda _, item: _with_discarded_origin(item, number))
        interp.now.write(value.id, marked_object)
        return marked_object != obj
    marked = _with_discarded_origin(value, number)
    if marked != value:
        _rebind(interp, target, marked)
    return marked != value


def _with_discarded_origin(value: Value, number: int) -> Value:
    match value:
        case Tensor(device=device) if device == CPU and _has_cpu_origins(value):
            items = {origin.path for origin in value.origins}
            item = items.pop() if value.maybe_container and len(items) == 1 else ()
            return replace(value, origins=(Origin("dropped", number, item),))
        case TupleValue(items):
            return TupleValue(tuple(_with_discarded_origin(item, number) for item in items))
        case IterableOf(element):
            return IterableOf(_with_discarded_origin(element, number))
        case Union(alternatives):
            return join(_with_discarded_origin(option, number) for option in alternatives)
    return value


def _iterated(stmt: ast.For | ast.AsyncFor) -> ast.expr | None:
    """Return the container of a loop's items: ``xs`` in ``xs``, ``enumerate(xs)``, ``xs.values()``, ``xs.items()``."""
    node = stmt.iter
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "enumerate" and len(node.args) == 1:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "items") and not node.args:
            node = node.func.value
    return node if _is_target(node) or isinstance(node, (ast.Tuple, ast.List)) else None


@node_cache(4096)
def _dead_moves(stmt: ast.For | ast.AsyncFor) -> tuple[tuple[ast.stmt, ast.Call], ...]:
    """Return the moves of a loop's variable that is not read afterwards."""
    last = stmt.target.elts[-1] if isinstance(stmt.target, ast.Tuple) else stmt.target
    if not isinstance(last, ast.Name):
        return ()
    found: list[tuple[ast.stmt, ast.Call]] = []
    for inner in _statements(stmt.body):
        alone = isinstance(inner, ast.Expr)
        rebinds = isinstance(inner, ast.Assign) and text_of(inner.targets[0]) == last.id and len(inner.targets) == 1
        call = inner.value if isinstance(inner, (ast.Expr, ast.Assign)) else None
        if not (alone or rebinds) or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in _MOVES or text_of(call.func.value) != last.id:
            continue
        later = (node for node in ast.walk(stmt) if isinstance(node, ast.Name) and node.id == last.id)
        end = (inner.end_lineno or 0, inner.end_col_offset or 0)
        if not any((node.lineno, node.col_offset) >= end for node in later):
            found.append((inner, call))
    return tuple(found)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for stmt in body:
        yield stmt
        if isinstance(stmt, ast.If):
            yield from _statements(stmt.body)
            yield from _statements(stmt.orelse)


SUBSCRIPTIONS = (Subscription(ExpressionStatement, _note_statement), Subscription(LoopLeft, _note_loop))
