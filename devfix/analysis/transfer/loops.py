"""Loops: what they iterate over, how often their body is followed, and how it is left."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis import ineffective_moves
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import Ref, TupleValue, Value, options
from devfix.analysis.transfer import assignment, iteration
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["Loop", "for_loop", "sends_to_accelerator", "while_loop"]


@dataclass(eq=False)
class Loop:
    """States that leave a loop's body early."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


def for_loop(run: Interpreter, stmt: ast.For | ast.AsyncFor) -> None:
    """Run a ``for``: element by element where they are known, else twice with what stands for all of them."""
    iterable = run.evaluate(stmt.iter)
    elements = iteration.elements(run, iterable, stmt)
    loop = Loop()
    run.loops.append(loop)
    run.loop_depth += 1
    try:
        if elements is None:
            summary = iteration.element(run, iterable, stmt, moved_names(stmt))
            elements = _one_by_one(run, summary) or [summary] * (2 if run.loop_depth <= 3 else 1)
        for value in elements:
            assert run.frame is not None
            run.frame.stmt = stmt
            assignment.assign(run, stmt.target, value, kind="target")
            _iterate(run, stmt.body, loop)
            if run.state is None:
                break
    finally:
        run.loop_depth -= 1
        run.loops.pop()
    _leave(run, stmt.orelse, loop)
    ineffective_moves.after_loop(run, stmt)


def _one_by_one(run: Interpreter, element: Value) -> list[Value]:
    """Different modules that a loop visits: what its body asks of each has an answer; empty where it visits none.

    ``for value in vars(self).values(): if isinstance(value, nn.Module): value.to(device)`` moves each of them.
    """
    items = element.items if isinstance(element, TupleValue) else (element,)
    last = options(items[-1]) if items else ()
    if len(last) < 2 or not any(isinstance(each, Ref) and run.record(each).kind == "module" for each in last):
        return []
    return [TupleValue((*items[:-1], each)) for each in last] if isinstance(element, TupleValue) else list(last)


def while_loop(run: Interpreter, stmt: ast.While) -> None:
    """Run a ``while``: twice, so that what one turn leaves behind meets the next."""
    loop = Loop()
    run.loops.append(loop)
    run.loop_depth += 1
    forever = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
    try:
        for turn in range(2 if run.loop_depth <= 3 else 1):
            assert run.frame is not None
            run.frame.stmt = stmt
            if run.truth(stmt.test) is False and turn == 0:
                break
            _iterate(run, stmt.body, loop)
            if run.state is None:
                break
        else:
            if forever and loop.breaks:
                run.state = None
    finally:
        run.loop_depth -= 1
        run.loops.pop()
    _leave(run, stmt.orelse, loop)


def _iterate(run: Interpreter, body: list[ast.stmt], loop: Loop) -> None:
    run.execute(body)
    ends = [*loop.continues, *([run.state] if run.state is not None else [])]
    loop.continues.clear()
    run.state = State.join(ends)


def _leave(run: Interpreter, orelse: list[ast.stmt], loop: Loop) -> None:
    if run.state is not None:
        run.execute(orelse)
    run.state = State.join([*loop.breaks, *([run.state] if run.state is not None else [])])


@lru_cache(maxsize=4096)
def moved_names(stmt: ast.For | ast.AsyncFor) -> frozenset[str]:
    """Loop targets that the body sends to a device on every path: what is iterated yields CPU tensors."""
    targets = {node.id for node in ast.walk(stmt.target) if isinstance(node, ast.Name)}
    moved = set()
    for inner in stmt.body:
        if isinstance(inner, ast.If) and not _asks_for_accelerator(inner.test):
            continue
        for node in walk(inner):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and sends_to_accelerator(node, node.func.attr)
            ):
                base: ast.expr = node.func.value
                while isinstance(base, (ast.Subscript, ast.Attribute)):
                    base = base.value
                if isinstance(base, ast.Name) and base.id in targets:
                    moved.add(base.id)
    return frozenset(moved)


def sends_to_accelerator(call: ast.Call, method: str) -> bool:
    """Whether a call of a method with this name is ``.cuda()``, or ``.to()`` with the name of a device."""
    if method == "cuda":
        return True
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    return method == "to" and any(_asks_for_accelerator(argument) for argument in given)


def _asks_for_accelerator(node: ast.expr) -> bool:
    text = text_of(node).lower()
    return any(word in text for word in ("cuda", "gpu", "device", "dev", "rank", "mps"))
