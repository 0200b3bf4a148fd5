"""``contextlib``: functions that yield once, and what they do when the ``with`` statement ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING

from devfix.analysis.domain.joins import equal_or
from devfix.analysis.domain.objects import HeapObject, object_at
from devfix.analysis.domain.protocol import Loop
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import NONE, Bound, Pointer, Value, alternatives
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import implicit_call, text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Activation
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["ManagerObject", "entered", "is_entered", "leaving", "steps"]

_DECORATORS = frozenset({"contextmanager", "asynccontextmanager"})

_Statements = list[ast.stmt]


@dataclass(frozen=True)
class ManagerObject(HeapObject):
    """A function under ``@contextmanager`` that has been executed up to its ``yield``, for a ``with`` statement.

    Attributes:
        activation: its activation.
        rest: what it executes when the ``with`` statement ends.

    """

    activation: Activation | None = field(default=None, metadata=equal_or(None))
    rest: tuple[ast.stmt, ...] = field(default=(), metadata=equal_or(()))


@node_cache(4096)
def steps(node: ast.AST) -> tuple[_Statements, _Statements] | None:
    """Return the statements of a context manager up to its ``yield``, and those behind it.

    ``None`` if a function is no context manager, or yields on one of several paths, or within another ``with``.
    """
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    names = {text_of(each).split(".")[-1] for each in node.decorator_list}
    inner = [each for each in walk(node) if isinstance(each, (ast.Yield, ast.YieldFrom))]
    return _divided(node.body) if not names.isdisjoint(_DECORATORS) and len(inner) == 1 else None


def is_entered(interp: Interpreter, call: ast.Call) -> bool:
    """Return whether a ``with`` statement of the same function enters the result of a call.

    Another manager, such as one that an ``ExitStack`` enters, is followed as a whole: who leaves it is unknown.
    """
    assert interp.activation is not None
    tree = interp.activation.module.tree
    parent = tree.parents.get(call)
    while isinstance(parent, ast.IfExp):  # ``with parked(net) if offload else nullcontext():``
        parent = tree.parents[parent]
    match parent:
        case ast.withitem():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in _entered_names(interp.activation.node)
    return False


@node_cache(4096)
def _entered_names(function: ast.AST) -> frozenset[str]:
    items = (node.context_expr for node in walk(function) if isinstance(node, ast.withitem))
    return frozenset(each.id for each in items if isinstance(each, ast.Name))


def _divided(body: Sequence[ast.stmt]) -> tuple[_Statements, _Statements] | None:
    """Return the statements before and behind the one that yields; of ``try``, its body and what follows without it."""
    for index, stmt in enumerate(body):
        before, behind = list(body[:index]), list(body[index + 1 :])
        match stmt:
            case ast.Expr(value=ast.Yield()) | ast.Assign(value=ast.Yield()):
                return [*before, stmt], behind
            case ast.Try() if (parts := _divided(stmt.body)) is not None:
                return [*before, *parts[0]], [*parts[1], *stmt.orelse, *stmt.finalbody, *behind]
    return None


def entered(interp: Interpreter, value: Value) -> Value | None:
    """Return what ``with value as x`` binds; ``None`` if no function under ``@contextmanager`` made the value."""
    manager = object_at(interp, value, ManagerObject)
    return None if manager is None else manager.fields["yielded"]


@contextmanager
def leaving(interp: Interpreter, managers: list[Value], node: ast.AST) -> Iterator[None]:
    """Execute what context managers do when their ``with`` statement ends, on every path that leaves its body."""
    assert interp.activation is not None
    returns, loop = interp.activation.returns, interp.loops[-1] if interp.loops else Loop(0)
    exits = [len(states) for states in (returns, loop.breaks, loop.continues)]
    yield
    if not any(map(_objects, managers)):
        return
    if interp.alive:
        _leave(interp, managers, node)
    end = interp.state
    for index in range(exits[0], len(returns)):
        returns[index] = _left(interp, returns[index][0], managers, node), returns[index][1]
    for states, start in ((loop.breaks, exits[1]), (loop.continues, exits[2])):
        states[start:] = [_left(interp, state, managers, node) for state in states[start:]]
    interp.state = end


def _left(interp: Interpreter, state: State, managers: list[Value], node: ast.AST) -> State:
    """Return the state in which one path leaves the body."""
    interp.state = state
    _leave(interp, managers, node)
    return interp.state if interp.alive else state


def _leave(interp: Interpreter, managers: list[Value], node: ast.AST) -> None:
    """Execute the ends of context managers, the last one first."""
    for option in chain.from_iterable(map(_objects, reversed(managers))):
        if not interp.alive:
            return
        manager = interp.heap_object(option)
        if isinstance(manager, ManagerObject) and manager.activation is not None:
            with interp.within(manager.activation), suppress(Unreachable):
                interp.execute(list(manager.rest))
            interp.base.ended.add(manager.activation.env)
        elif manager.cls is not None:
            method = interp.attribute(option, "__exit__", node)
            if isinstance(method, Bound):
                interp.call(method, [NONE, NONE, NONE], {}, implicit_call(node, "exit"))


def _objects(value: Value) -> list[Pointer]:
    """Return the objects that a value may stand for; one that was not entered on some path is left all the same."""
    return [option for option in alternatives(value) if isinstance(option, Pointer)]
