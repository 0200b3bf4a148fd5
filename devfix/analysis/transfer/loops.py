"""Loops: their elements, the rounds of their body, their exits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, HeapObject, module_at, object_at
from devfix.analysis.domain.objects import Mapping as MappingObject
from devfix.analysis.domain.protocol import Loop
from devfix.analysis.domain.stability import brings_nothing_new, widen
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import (
    FIRST_ROUND,
    LATER_ROUND,
    Const,
    Number,
    Parameters,
    Pointer,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.execution import LoopLeft
from devfix.analysis.torch.module_methods import set_trained
from devfix.analysis.transfer import assignment, iteration
from devfix.syntax.node_caches import node_cache
from devfix.syntax.overwritten import overwritten_names
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["Loop", "for_loop", "sends_to_accelerator", "while_loop"]

MOST_NAMES = 32  # of attributes that a loop sets one by one
MOST_STATEMENTS = 3  # of such a loop
MOST_NESTED = 3  # loops inside so many others are executed once
PAID_ROUNDS = 2  # further rounds are spent from the spare steps
PLAIN_ROUNDS = 4  # behind them, what still changes is widened
MOST_ROUNDS = 6


def for_loop(interp: Interpreter, stmt: ast.For | ast.AsyncFor) -> None:
    """Execute a ``for``: for each element if they are known, else with a value that represents all of them."""
    start = interp.new_id()
    iterable = interp.evaluate(stmt.iter)
    if isinstance(iterable, Parameters):
        set_trained(interp, iterable, stmt)
    elements = iteration.elements(interp, iterable, stmt)
    written = {name: assignment.containers(interp, name) for name in _written_by_key(stmt)}
    with _entered(interp) as loop:
        representative = None
        if elements is None and _names_attributes(stmt):
            elements = _names(interp, iterable)
        if elements is None:
            representative = iteration.element(interp, iterable, stmt, moved_names(stmt))
            elements = _separate_modules(interp, representative)
        if representative is not None and not elements:
            made = _objects_in(interp, representative, start)
            first, later = _opening(stmt, representative) or (None, representative)
            iterate = partial(_iterate, interp, stmt, later, loop, made)
            opening = iterate if first is None else partial(_iterate, interp, stmt, first, loop, made)
            _repeat(interp, stmt, loop, iterate, opening)
        for value in elements:
            if interp.alive:
                _iterate(interp, stmt, value, loop)
    _leave(interp, stmt.orelse, loop)
    for name, before in written.items():
        assignment.settle_items(interp, name, before)
    interp.observe(LoopLeft(stmt))


@node_cache(4096)
def _names_attributes(stmt: ast.For | ast.AsyncFor) -> bool:
    """Return whether each round sets one attribute, ``setattr(engine, name, value)``, and does little else."""
    nodes = [node for inner in stmt.body for node in walk(inner)]
    if len(stmt.body) > MOST_STATEMENTS or any(isinstance(node, (ast.For, ast.While)) for node in nodes):
        return False
    calls = (node for node in nodes if isinstance(node, ast.Call) and len(node.args) == 3)
    return any(text_of(call.func) == "setattr" and text_of(call.args[1]) == text_of(stmt.target) for call in calls)


def _names(interp: Interpreter, iterable: Value) -> list[Value] | None:
    """Return the constant strings of a list or tuple; ``None`` for anything else."""
    items = iterable.items if isinstance(iterable, TupleValue) else ()
    container = object_at(interp, iterable, Container)
    if container is not None and container.default_item is None and not isinstance(container, MappingObject):
        items = tuple(container.fields.values())
    are_names = all(isinstance(item, Const) and isinstance(item.value, str) for item in items)
    return list(items) if 0 < len(items) <= MOST_NAMES and are_names else None


def _objects_in(interp: Interpreter, value: Value, start: int) -> dict[int, HeapObject]:
    """Return the objects of a value whose identifiers are above ``start``."""
    found: dict[int, HeapObject] = {}
    pending = [value]
    while pending:
        match pending.pop():
            case Pointer(key) if key > start and key not in found:
                found[key] = interp.now.at(key)
                pending.extend(found[key].contents)
            case TupleValue(items) | Union(items):
                pending.extend(items)
    return found


def _renewed(interp: Interpreter, value: Value, made: Mapping[int, HeapObject], known: dict[int, Pointer]) -> Value:
    """Return a value with new objects in place of those that were made for it; ``known`` are the new ones."""
    match value:
        case Pointer(key) if key in made:
            if key not in known:
                known[key] = interp.new(made[key])
                renewed = made[key].transformed(lambda _, item: _renewed(interp, item, made, known))
                interp.now.write(known[key].id, renewed)
            return known[key]
        case TupleValue(items):
            return TupleValue(tuple(_renewed(interp, item, made, known) for item in items))
        case Union(items):
            return join(_renewed(interp, item, made, known) for item in items)
    return value


def _iterate(
    interp: Interpreter,
    stmt: ast.For | ast.AsyncFor,
    value: Value,
    loop: Loop,
    made: Mapping[int, HeapObject] = MappingProxyType({}),
) -> bool:
    """Execute one round; ``made`` are the objects of the element: once a round has changed them, it has new ones."""
    assert interp.activation is not None
    interp.activation.stmt = stmt
    if any(interp.now.at(key) is not obj for key, obj in made.items()):
        value = _renewed(interp, value, made, {})
    assignment.assign(interp, stmt.target, value, kind="target")
    _execute_body(interp, stmt.body, loop)
    return True


def _opening(stmt: ast.For | ast.AsyncFor, representative: Value) -> tuple[Value, Value] | None:
    """Return the element of the first round, and that of later ones, if the body asks which it is: ``if i == 0``."""
    match stmt:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=ast.Name(id="range"), args=args)) if len(args) < 3:
            start = args[0] if len(args) > 1 else None
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=counter), _]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=args, keywords=given),
        ):
            start = next((each.value for each in given), args[1] if len(args) > 1 else None)
        case _:
            return None
    text = (
        "0" if start is None else text_of(start) if isinstance(start, (ast.Constant, ast.Name, ast.Attribute)) else ""
    )
    if not text or not _asks_whether(stmt, counter, text):
        return None
    first: Value = Const(int(text)) if text.isdecimal() else Number(f"{FIRST_ROUND}{stmt.lineno}:{text}")
    later = Number(f"{LATER_ROUND}{stmt.lineno}:{text}")
    if isinstance(stmt.target, ast.Name):
        return first, later
    if isinstance(representative, TupleValue) and len(representative.items) == 2:
        return TupleValue((first, representative.items[1])), TupleValue((later, representative.items[1]))
    return None


@node_cache(4096)
def _asks_whether(stmt: ast.For, counter: str, start: str) -> bool:
    """Return whether the body of a loop compares its counter to its start."""
    for node in (node for inner in stmt.body for node in walk(inner)):
        match node:
            case ast.Compare(left=ast.Name(id=name), comparators=[other]):
                if name == counter and text_of(other) == start:
                    return True
            case ast.If(test=test) | ast.IfExp(test=test):
                plain = test.operand if isinstance(test, ast.UnaryOp) else test
                if start == "0" and isinstance(plain, ast.Name) and plain.id == counter:
                    return True
    return False


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
    """Execute a ``while``; one that starts with a false condition is left out."""
    with _entered(interp) as loop:
        iterate = partial(_test_and_iterate, interp, stmt, loop)
        _repeat(interp, stmt, loop, iterate, iterate)
        if _is_endless(stmt) and loop.breaks:
            interp.state = None
    _leave(interp, stmt.orelse, loop)


def _is_endless(stmt: ast.For | ast.AsyncFor | ast.While) -> bool:
    return isinstance(stmt, ast.While) and isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)


def _has_elements(interp: Interpreter, iterable: ast.expr) -> bool:
    """Return whether a loop has a first round: a text has a part, ``text.split(",")``, and so has ``range(20)``."""
    match iterable:
        case ast.Call(func=ast.Attribute(attr="split" | "rsplit"), args=[ast.Constant(value=str())]):
            return True
        case ast.Call(func=ast.Name(id="range" | "trange"), args=bounds, keywords=[]) if 0 < len(bounds) <= 3:
            values = [interp.evaluate(bound) for bound in bounds if not isinstance(bound, ast.Starred)]
            numbers = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, int)]
            return len(numbers) == len(bounds) and 0 not in numbers[2:] and bool(range(*numbers))
        case ast.Call(func=ast.Name(id="enumerate" | "tqdm" | "reversed" | "list"), args=[inner, *_]):
            return _has_elements(interp, inner)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return any(not isinstance(item, ast.Starred) for item in items)
    return False


def _test_and_iterate(interp: Interpreter, stmt: ast.While, loop: Loop) -> bool:
    assert interp.activation is not None
    interp.activation.stmt = stmt
    if interp.truth(stmt.test) is False:
        return False
    _execute_body(interp, stmt.body, loop)
    return True


@contextmanager
def _entered(interp: Interpreter) -> Iterator[Loop]:
    """Make a loop the innermost one."""
    loop = Loop(interp.loops[0].start if interp.loops else interp.new_id())
    interp.loops.append(loop)
    interp.loop_depth += 1
    try:
        yield loop
    finally:
        interp.loop_depth -= 1
        interp.loops.pop()


def _repeat(
    interp: Interpreter,
    stmt: ast.For | ast.AsyncFor | ast.While,
    loop: Loop,
    iterate: Callable[[], bool],
    first: Callable[[], bool],
) -> None:
    """Execute rounds of a loop until one brings nothing new; ``iterate`` returns false if there is no further round.

    Where ``first`` is another function, it executes the first round, and there is a second one.

    States at the head of the loop stay apart, so that each round starts with what the one before it left.  Once a state
    is contained in an earlier one, further rounds only repeat what is known.  The loop ends behind any of these rounds,
    never before the first; objects of a spare round that are like those of an earlier one are left out.
    """
    assert interp.activation is not None
    overwritten = {interp.activation.env: overwritten_names(stmt, interp.activation.node)}
    heads, cost = [interp.now], 0
    least = 1 if first is iterate else 2
    most = MOST_ROUNDS if interp.loop_depth <= MOST_NESTED else least
    while len(heads) <= most and (len(heads) <= PAID_ROUNDS or cost <= interp.spare_steps):
        interp.state, steps = heads[-1].fork(), interp.steps
        with interp.spared() if len(heads) > PAID_ROUNDS else nullcontext():
            goes_on = (first if len(heads) == 1 else iterate)()
            cost = interp.steps - steps
        if not goes_on or len(heads) == most:
            return
        if not interp.alive and least > len(heads):
            first, least = iterate, 1  # whether a round is the first decides less than it seems
            continue
        if not interp.alive:  # each round returns or raises: what follows is reached if there is none
            interp.state = heads[-1]
            if _is_endless(stmt) or (isinstance(stmt, (ast.For, ast.AsyncFor)) and _has_elements(interp, stmt.iter)):
                interp.state = None
            return
        for index in reversed(range(len(heads) if len(heads) >= least else 0)):
            if brings_nothing_new(interp.now, heads[index], loop.start, overwritten):
                known = index >= PAID_ROUNDS and brings_nothing_new(interp.now, heads[index], loop.start, {})
                interp.state = State.join(heads[index:] if known else [*heads[index + 1 :], interp.now])
                return
        if len(heads) >= PLAIN_ROUNDS:
            widen(interp.now, heads[-1], loop.start)
        heads.append(interp.now)


def _execute_body(interp: Interpreter, body: list[ast.stmt], loop: Loop) -> None:
    outer, interp.round_start = interp.round_start, interp.new_id()
    try:
        interp.execute(body)
    finally:
        interp.round_start = outer
    ends = [*loop.continues, *([interp.state] if interp.state is not None else [])]
    loop.continues.clear()
    interp.state = State.join(ends)


def _leave(interp: Interpreter, orelse: list[ast.stmt], loop: Loop) -> None:
    if interp.state is not None:
        interp.execute(orelse)
    interp.state = State.join([*loop.breaks, *([interp.state] if interp.state is not None else [])])


@node_cache(4096)
def moved_names(stmt: ast.For | ast.AsyncFor) -> frozenset[str]:
    """Return loop targets that the body moves to a device on every path: the iterable yields CPU tensors.

    An attribute that is moved (``batch.edge_index.to(device)``) says nothing about the others: graphs move in part.
    Neither does a move whose result is not used (``model.to(device)``): modules move in place.  What a dictionary or a
    module holds is no loader either: ``zip(ema.state_dict().values(), model.parameters())``.
    """
    if _is_held(stmt.iter):
        return frozenset()
    targets = {node.id for node in ast.walk(stmt.target) if isinstance(node, ast.Name)}
    moved = set()
    for inner in stmt.body:
        if isinstance(inner, ast.If) and not _names_accelerator(inner.test):
            continue
        in_place = {chained for each in walk(inner) if isinstance(each, ast.Expr) for chained in _chain(each.value)}
        for node in walk(inner):
            if (
                isinstance(node, ast.Call)
                and node not in in_place
                and isinstance(node.func, ast.Attribute)
                and sends_to_accelerator(node, node.func.attr)
            ):
                base: ast.expr = node.func.value
                while isinstance(base, ast.Subscript):
                    base = base.value
                if isinstance(base, ast.Name) and base.id in targets:
                    moved.add(base.id)
    return frozenset(moved)


_HELD = frozenset("values items parameters named_parameters buffers named_buffers state_dict".split())


def _is_held(node: ast.expr) -> bool:
    """Return whether something iterates over the contents of a dictionary or a module, or of several of them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _HELD
    return isinstance(node, ast.Call) and bool(node.args) and all(map(_is_held, node.args))


@node_cache(4096)
def _written_by_key(stmt: ast.For | ast.AsyncFor) -> tuple[str, ...]:
    """Return the names whose items the body sets under a target of the loop: ``batch[key] = batch[key].to(device)``."""
    targets = {node.id for node in ast.walk(stmt.target) if isinstance(node, ast.Name)}
    written = (
        node.value.id
        for inner in stmt.body
        for node in walk(inner)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(node.slice))
    )
    return tuple(dict.fromkeys(written))


def _chain(node: ast.expr) -> Iterator[ast.Call]:
    """Yield the method calls that follow each other in an expression: ``x.to(device)`` in ``x.to(device).eval()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node
        node = node.func.value


def sends_to_accelerator(call: ast.Call, method: str) -> bool:
    """Return whether a method call is ``.cuda()``, or ``.to()`` with a device expression."""
    if method == "cuda":
        return True
    targets = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    return method == "to" and any(_names_accelerator(argument) for argument in targets)


def _names_accelerator(node: ast.expr) -> bool:
    text = text_of(node).lower()
    return any(word in text for word in ("cuda", "gpu", "device", "dev", "rank", "mps"))
