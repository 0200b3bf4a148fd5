"""Statements: assignment, branches, definitions; loops have a file of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis import ineffective_moves, lazy_caches, scopes
from devfix.analysis.domain import path_conditions
from devfix.analysis.domain.state import DeadPath, State
from devfix.analysis.domain.values import NONE, UNKNOWN, DeviceValue, Namespace, Ref, Tensor, Unknown
from devfix.analysis.transfer import (
    assignment,
    attributes,
    conditions,
    definitions,
    instantiation,
    methods,
    operators,
)
from devfix.analysis.transfer.loops import for_loop, sends_to_accelerator, while_loop
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["declared_elsewhere", "execute"]

MOST_SEPARATIONS = 24


@lru_cache(maxsize=4096)
def declared_elsewhere(function: ast.AST) -> dict[str, str]:
    """Names that a function declares ``global`` or ``nonlocal``."""
    names: dict[str, str] = {}
    body = getattr(function, "body", [])
    stack = list(body) if isinstance(body, list) and not isinstance(function, ast.Module) else []
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(dict.fromkeys(node.names, type(node).__name__.lower()))
        stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.excepthandler)))
    return names


def execute(run: Interpreter, body: list[ast.stmt]) -> None:
    """Run a block."""
    for index, stmt in enumerate(body):
        if run.state is None:
            return
        run.tick()
        assert run.frame is not None
        run.frame.stmt = stmt
        try:
            if isinstance(stmt, ast.If):
                if _branch(run, stmt, body[index + 1 :]):
                    return
            else:
                handler = _HANDLERS.get(type(stmt))
                if handler is not None:
                    handler(run, stmt)
        except DeadPath:
            run.state = None


def _branch(run: Interpreter, stmt: ast.If, rest: list[ast.stmt]) -> bool:
    """Run an ``if``; true where the rest of the block was run on each side apart."""
    assert run.frame is not None
    truth = run.truth(stmt.test)
    if truth is None and conditions.asks_where(stmt.test) and not stmt.orelse and _moves(stmt.body):
        truth = True  # moved unless it is there already: it is there afterwards
    if truth is None and not stmt.orelse and (filled := lazy_caches.filled(run, stmt)):
        execute(run, stmt.body)
        lazy_caches.replace_everywhere(run, filled)
        return False
    if truth is not None:
        execute(run, stmt.body if truth else stmt.orelse)
        return False
    repeated = run.frame.module.tree.repeated_conditions
    leaves = {text_of(leaf) for leaf in conditions.unknown_leaves(run, stmt.test)}
    apart = bool(leaves & repeated) and run.separations < MOST_SEPARATIONS
    start, ends = run.now, []
    run.separations += apart
    for holds, block in ((True, stmt.body), (False, stmt.orelse)):
        run.state = start.fork()
        run.frame.stmt = stmt
        path_conditions.assume(run, stmt.test, holds)
        execute(run, block)
        if apart and run.state is not None:
            execute(run, rest)
        if run.state is not None:
            ends.append(run.state)
    undecided = len(ends) == 2 and not apart and bool(rest) and run.separations < MOST_SEPARATIONS
    if undecided and scopes.devices_differ(ends[0], ends[1], _scopes(run)):
        run.separations += 1
        _run_apart(run, ends, rest)
        return True
    run.state = State.join(ends)
    return apart


def _moves(body: list[ast.stmt]) -> bool:
    calls = (node for stmt in body for node in ast.walk(stmt) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and sends_to_accelerator(call, call.func.attr) for call in calls)


def _scopes(run: Interpreter) -> tuple[int, ...]:
    frame = run.frame
    assert frame is not None
    return (frame.env, frame.module.env, *(frame.function.scope if frame.function else ()))


def _run_apart(run: Interpreter, states: list[State], rest: list[ast.stmt]) -> None:
    """Two sides chose different devices: what follows is run on each, so that no place of one meets the other's."""
    ends = []
    for state in states:
        run.state = state
        execute(run, rest)
        if run.state is not None:
            ends.append(run.state)
    run.state = State.join(ends)


def _with(run: Interpreter, stmt: ast.With | ast.AsyncWith) -> None:
    default, enabled = run.default_place, run.grad_enabled
    for item in stmt.items:
        value = run.evaluate(item.context_expr)
        if isinstance(value, DeviceValue):
            run.default_place = value.place
        entered = instantiation.entered(run, value, item.context_expr)
        if item.optional_vars is not None:
            assignment.assign(run, item.optional_vars, entered)
        enabled &= not (isinstance(value, Unknown) and value.symbol in _WITHOUT_GRADIENTS)
    with run.gradients(enabled):
        execute(run, stmt.body)
    run.default_place = default


_WITHOUT_GRADIENTS = ("torch.no_grad()", "torch.inference_mode()", "torch.autograd.no_grad()")


def _try(run: Interpreter, stmt: ast.Try) -> None:
    start = run.now.fork()
    execute(run, stmt.body)
    ends = []
    if run.state is not None:
        execute(run, stmt.orelse)
    if run.state is not None:
        ends.append(run.state)
    if not any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in stmt.body):
        for handler in stmt.handlers:
            if ends and not _changes_anything(handler):
                continue  # it only looks away: what the body did counts
            run.state = start.fork()
            if handler.name:
                run.bind(handler.name, UNKNOWN)
            execute(run, handler.body)
            if run.state is not None:
                ends.append(run.state)
    run.state = State.join(ends, replaced=True)
    if run.state is not None:
        execute(run, stmt.finalbody)


def _changes_anything(handler: ast.ExceptHandler) -> bool:
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Return, ast.Delete, ast.Import, ast.ImportFrom)
    return any(isinstance(node, kinds) for node in ast.walk(handler))


def _return(run: Interpreter, stmt: ast.Return) -> None:
    value = NONE if stmt.value is None else run.evaluate(stmt.value)
    assert run.frame is not None
    run.frame.returns.append((run.now, value))
    run.state = None


def _break(run: Interpreter, _: ast.stmt) -> None:
    if run.loops:
        run.loops[-1].breaks.append(run.now)
    run.state = None


def _continue(run: Interpreter, _: ast.stmt) -> None:
    if run.loops:
        run.loops[-1].continues.append(run.now)
    run.state = None


def _raise(run: Interpreter, stmt: ast.Raise) -> None:
    run.state = None


def _assign(run: Interpreter, stmt: ast.Assign) -> None:
    value = run.evaluate(stmt.value)
    for target in stmt.targets:
        assignment.assign(run, target, value, source=stmt.value)


def _annotated(run: Interpreter, stmt: ast.AnnAssign) -> None:
    if stmt.value is not None:
        assignment.assign(run, stmt.target, run.evaluate(stmt.value), source=stmt.value)


def _augmented(run: Interpreter, stmt: ast.AugAssign) -> None:
    held = run.evaluate(_as_load(stmt.target)) if isinstance(stmt.op, ast.Add) else None
    if isinstance(held, Ref) and _extends(run, held):
        methods.call_method(run, held, "extend", [run.evaluate(stmt.value)], {}, _extension(stmt))
        return  # in place: the target goes on to name the same object
    load = ast.copy_location(ast.BinOp(_as_load(stmt.target), stmt.op, stmt.value), stmt)
    assignment.assign(run, stmt.target, operators.augmented(run, load))


def _extends(run: Interpreter, held: Ref) -> bool:
    record = run.record(held)
    return record.kind == "list" or (record.kind == "module" and record.name == "torch.nn.ModuleList")


def _extension(stmt: ast.AugAssign) -> ast.Call:
    target = ast.copy_location(ast.Attribute(_as_load(stmt.target), "extend", ast.Load()), stmt)
    return ast.copy_location(ast.Call(target, [stmt.value], []), stmt)


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def _expression(run: Interpreter, stmt: ast.Expr) -> None:
    value = run.evaluate(stmt.value)
    ineffective_moves.note_dropped(run, stmt, value)
    call = stmt.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda"):
        base = call.func.value
        held = run.lookup(base.id) if isinstance(base, ast.Name) else None
        unsure = isinstance(held, Unknown) or (isinstance(held, Tensor) and held.loose and not held.sure)
        if unsure and isinstance(base, ast.Name):
            run.bind(base.id, value)  # nobody drops the result: a batch object that moves in place


def _assert(run: Interpreter, stmt: ast.Assert) -> None:
    if conditions.truth(run, stmt.test) is False and run.elsewhere:
        run.state = None  # the program says that it needs an accelerator


def _delete(run: Interpreter, stmt: ast.Delete) -> None:
    for target in stmt.targets:
        assignment.delete(run, target)


def _import(run: Interpreter, stmt: ast.Import) -> None:
    for alias in stmt.names:
        value = run.imported(alias.name)
        if alias.asname:
            run.bind(alias.asname, value)
        else:
            top = alias.name.split(".")[0]
            run.bind(top, value if top == alias.name else run.imported(top))


def _import_from(run: Interpreter, stmt: ast.ImportFrom) -> None:
    base = run.imported(stmt.module or "", stmt.level)
    for alias in stmt.names:
        if alias.name == "*":
            assert run.frame is not None
            if isinstance(base, Namespace) and base.module not in run.frame.module.stars:
                run.frame.module.stars.insert(0, base.module)
            continue
        run.bind(alias.asname or alias.name, attributes.imported_name(run, base, alias.name, stmt))


def _define(run: Interpreter, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    run.bind(stmt.name, definitions.define_function(run, stmt))


def _define_class(run: Interpreter, stmt: ast.ClassDef) -> None:
    run.bind(stmt.name, definitions.define_class(run, stmt))


def _match(run: Interpreter, stmt: ast.Match) -> None:
    subject = run.evaluate(stmt.subject)
    start, ends = run.now, []
    for case in stmt.cases:
        fits = conditions.matches(run, subject, case.pattern)
        if fits is False:
            continue
        run.state = start.fork()
        for node in ast.walk(case.pattern):
            if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                run.bind(node.name, UNKNOWN)
        execute(run, case.body)
        if run.state is not None:
            ends.append(run.state)
        if fits:
            break
    else:
        ends.append(start)
    run.state = State.join(ends)


_HANDLERS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.For: for_loop,
    ast.AsyncFor: for_loop,
    ast.While: while_loop,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Raise: _raise,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
    ast.Match: _match,
}
if hasattr(ast, "TryStar"):
    _HANDLERS[ast.TryStar] = _try
