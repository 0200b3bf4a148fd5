"""Loops: their elements, the number of iterations of their body, their exits."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.protocol import Loop
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import TupleValue, Value, alternatives
from devfix.analysis.observations.execution import LoopLeft
from devfix.analysis.transfer import assignment, iteration
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["Loop", "for_loop", "sends_to_accelerator", "while_loop"]


def for_loop(interp: Interpreter, stmt: ast.For | ast.AsyncFor) -> None:
    """Execute a ``for``: for each element if they are known, else twice with a value that represents all of them."""
    iterable = interp.evaluate(stmt.iter)
    elements = iteration.elements(interp, iterable, stmt)
    loop = Loop()
    interp.loops.append(loop)
    interp.loop_depth += 1
    try:
        if elements is None:
            representative = iteration.element(interp, iterable, stmt, moved_names(stmt))
            elements = _separate_modules(interp, representative) or [representative] * (
                2 if interp.loop_depth <= 3 else 1
            )
        for value in elements:
            assert interp.activation is not None
            interp.activation.stmt = stmt
            assignment.assign(interp, stmt.target, value, kind="target")
            _iterate(interp, stmt.body, loop)
            if interp.state is None:
                break
    finally:
        interp.loop_depth -= 1
        interp.loops.pop()
    _leave(interp, stmt.orelse, loop)
    interp.observe(LoopLeft(stmt))


def _separate_modules(interp: Interpreter, element: Value) -> list[Value]:
    """Return the alternatives of an element if there are modules among them, else an empty list.

    Conditions of the body are then decided for each alternative: ``for value in vars(self).values(): if
    isinstance(value, nn.Module): value.to(device)`` moves each of the modules.
    """
    items = element.items if isinstance(element, TupleValue) else (element,)
    options = alternatives(items[-1]) if items else ()
    if len(options) < 2 or all(module_at(interp, option) is None for option in options):
        return []
    if isinstance(element, TupleValue):
        return [TupleValue((*items[:-1], option)) for option in options]
    return list(options)


def while_loop(interp: Interpreter, stmt: ast.While) -> None:
    """Execute a ``while``: twice, so that the effects of one iteration reach the next."""
    loop = Loop()
    interp.loops.append(loop)
    interp.loop_depth += 1
    is_endless = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
    try:
        for iteration_number in range(2 if interp.loop_depth <= 3 else 1):
            assert interp.activation is not None
            interp.activation.stmt = stmt
            if interp.truth(stmt.test) is False and iteration_number == 0:
                break
            _iterate(interp, stmt.body, loop)
            if interp.state is None:
                break
        else:
            if is_endless and loop.breaks:
                interp.state = None
    finally:
        interp.loop_depth -= 1
        interp.loops.pop()
    _leave(interp, stmt.orelse, loop)


def _iterate(interp: Interpreter, body: list[ast.stmt], loop: Loop) -> None:
    interp.execute(body)
    ends = [*loop.continues, *([interp.state] if interp.state is not None else [])]
    loop.continues.clear()
    interp.state = State.join(ends)


def _leave(interp: Interpreter, orelse: list[ast.stmt], loop: Loop) -> None:
    if interp.state is not None:
        interp.execute(orelse)
    interp.state = State.join([*loop.breaks, *([interp.state] if interp.state is not None else [])])


@lru_cache(maxsize=4096)
def moved_names(stmt: ast.For | ast.AsyncFor) -> frozenset[str]:
    """Return loop targets that the body moves to a device on every path: the iterable yields CPU tensors.

    An attribute that is moved (``batch.edge_index.to(device)``) says nothing about the others: graphs move in part.
    """
    targets = {node.id for node in ast.walk(stmt.target) if isinstance(node, ast.Name)}
    moved = set()
    for inner in stmt.body:
        if isinstance(inner, ast.If) and not _names_accelerator(inner.test):
            continue
        for node in walk(inner):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and sends_to_accelerator(node, node.func.attr)
            ):
                base: ast.expr = node.func.value
                while isinstance(base, ast.Subscript):
                    base = base.value
                if isinstance(base, ast.Name) and base.id in targets:
                    moved.add(base.id)
    return frozenset(moved)


def sends_to_accelerator(call: ast.Call, method: str) -> bool:
    """Return whether a method call is ``.cuda()``, or ``.to()`` with a device expression."""
    if method == "cuda":
        return True
    targets = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    return method == "to" and any(_names_accelerator(argument) for argument in targets)


def _names_accelerator(node: ast.expr) -> bool:
    text = text_of(node).lower()
    return any(word in text for word in ("cuda", "gpu", "device", "dev", "rank", "mps"))
