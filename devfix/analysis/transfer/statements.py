"""Statements: assignments, branches, definitions; see also ``loops``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import lazy_caches, scopes
from devfix.analysis.callers.attributes import kinds_with
from devfix.analysis.domain import narrowing, path_conditions
from devfix.analysis.domain.device_branches import branch_of_accelerator, does_without_accelerator
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    DeviceValue,
    External,
    ImportedName,
    Namespace,
    Pointer,
    Tensor,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.execution import ExpressionStatement
from devfix.analysis.stdlib import contextlib_
from devfix.analysis.stdlib.containers import ListObject
from devfix.analysis.transfer import (
    assignment,
    attributes,
    conditions,
    definitions,
    exhaustive_chains,
    instantiation,
    methods,
    operators,
    patterns,
)
from devfix.analysis.transfer.loops import for_loop, sends_to_accelerator, while_loop
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.program import PythonModule

__all__ = ["declared_names", "execute"]

MAX_PATH_SPLITS = 24


@node_cache(4096)
def declared_names(function: ast.AST) -> dict[str, str]:
    """Return the names that a function declares, with ``global`` or ``nonlocal``."""
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


def execute(interp: Interpreter, body: list[ast.stmt]) -> None:
    """Execute a block."""
    for index, stmt in enumerate(body):
        if interp.state is None:
            return
        interp.steps += 1
        if interp.steps > interp.step_budget:
            interp.give_up()
        assert interp.activation is not None
        interp.activation.stmt = stmt
        try:
            if isinstance(stmt, ast.If):
                if _branch(interp, stmt, body[index + 1 :]):
                    return
            elif isinstance(stmt, (ast.Assign, ast.AnnAssign)) and isinstance(stmt.value, ast.IfExp):
                if _choose(interp, stmt, stmt.value, body[index + 1 :]):
                    return
            else:
                handler = _HANDLERS.get(type(stmt))
                if handler is not None:
                    handler(interp, stmt)
        except Unreachable:
            interp.state = None


def _branch(interp: Interpreter, stmt: ast.If, rest: list[ast.stmt]) -> bool:
    """Execute an ``if``; return whether the rest of the block was executed as well, separately on each path."""
    assert interp.activation is not None
    truth = interp.truth(stmt.test)
    if truth is None and conditions.tests_device(stmt.test) and not stmt.orelse and _moves(stmt):
        truth = True  # a conditional move: afterwards, the value is on the target device
        narrowing.narrow(interp, stmt.test, True)
    if truth is None and exhaustive_chains.is_last(interp.activation.module.tree, stmt):
        path_conditions.assume(interp, stmt.test, True)
        truth = True
    if truth is None and lazy_caches.replaces_entry(stmt):
        truth = True
    if truth is None and not stmt.orelse and (filled := lazy_caches.rebuild_statements(interp, stmt)):
        execute(interp, stmt.body)
        lazy_caches.rebuild_items(interp, filled)
        return False
    if truth is None and lazy_caches.builds_first(interp, stmt):
        truth = True
    if truth is None and lazy_caches.is_filled(interp, stmt):
        truth = False
    if truth is None and not interp.scenario.no_accelerator:
        truth = branch_of_accelerator(stmt)
        if truth is not None:
            path_conditions.assume(interp, stmt.test, truth)
    if truth is not None:
        execute(interp, stmt.body if truth else stmt.orelse)
        return False
    is_split = _is_repeated(interp, stmt.test) and interp.path_splits < MAX_PATH_SPLITS
    start, ends = interp.now, []
    interp.path_splits += is_split
    for holds, block in ((True, stmt.body), (False, stmt.orelse)):
        interp.state = start.fork()
        interp.activation.stmt = stmt
        path_conditions.assume(interp, stmt.test, holds)
        if holds and not _assume_none_before(interp, stmt):
            continue
        execute(interp, block)
        if is_split and interp.state is not None:
            execute(interp, rest)
        if interp.state is not None:
            ends.append(interp.state)
    undecided = len(ends) == 2 and not is_split and bool(rest) and interp.path_splits < MAX_PATH_SPLITS
    is_library = interp.observations.is_library
    if undecided and scopes.devices_differ(ends[0], ends[1], _scopes(interp), is_library):
        interp.path_splits += 1
        _execute_split(interp, ends, rest)
        return True
    interp.state = State.join(ends, replaced=True)
    return is_split


def _assume_none_before(interp: Interpreter, stmt: ast.If) -> bool:
    """Assume again that the tests before an ``elif`` do not hold, and return whether that is possible.

    What its own test says may decide which part of them fails: ``if x is not None and hasattr(x, "item"): … elif x:``.
    """
    assert interp.activation is not None
    parents = interp.activation.module.tree.parents
    before = parents.get(stmt)
    while isinstance(before, ast.If) and before.orelse == [stmt]:
        if isinstance(before.test, ast.BoolOp) and not path_conditions.passes_arguments(before.test):
            if interp.truth(before.test) is True:
                return False
            path_conditions.assume(interp, before.test, False)
        stmt, before = before, parents.get(before)
    return True


def _is_repeated(interp: Interpreter, test: ast.expr) -> bool:
    """Return whether a condition, or a part of it that the path does not decide, occurs in another test, too."""
    assert interp.activation is not None
    leaves = conditions.unknown_leaves(interp, test)
    repeated = interp.activation.module.tree.repeated_conditions
    return any(text_of(leaf) in repeated for leaf in leaves)


def _choose(interp: Interpreter, stmt: ast.Assign | ast.AnnAssign, choice: ast.IfExp, rest: list[ast.stmt]) -> bool:
    """Execute ``x = a if test else b``, like :func:`_branch`, on separate paths if the test is repeated."""
    is_none_test = isinstance(choice.test, ast.Compare) and isinstance(choice.test.ops[0], (ast.Is, ast.IsNot))
    is_split = not is_none_test and _is_repeated(interp, choice.test) and interp.path_splits < MAX_PATH_SPLITS
    if not is_split or interp.truth(choice.test) is not None:
        _HANDLERS[type(stmt)](interp, stmt)
        return False
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
    assert interp.activation is not None
    start, ends = interp.now, []
    interp.path_splits += 1
    for holds, chosen in ((True, choice.body), (False, choice.orelse)):
        interp.state = start.fork()
        interp.activation.stmt = stmt
        path_conditions.assume(interp, choice.test, holds)
        with suppress(Unreachable):
            value = interp.evaluate(chosen)
            for target in targets:
                assignment.assign(interp, target, value, source=chosen)
            execute(interp, rest)
            if interp.state is not None:
                ends.append(interp.state)
    interp.state = State.join(ends)
    return True


@node_cache(4096)
def _moves(stmt: ast.If) -> bool:
    """Return whether a body sends something to the accelerator, or takes back what is tested: ``x = x.cpu()``."""
    calls = (node for each in stmt.body for node in walk(each) if isinstance(node, ast.Call))
    if any(isinstance(call.func, ast.Attribute) and sends_to_accelerator(call, call.func.attr) for call in calls):
        return True
    tested = {text_of(node.value) for node in walk(stmt.test) if isinstance(node, ast.Attribute)}
    assigned = [each for each in stmt.body if isinstance(each, ast.Assign) and len(each.targets) == 1]
    return any(
        (name := text_of(each.targets[0])) in tested
        and text_of(each.value).startswith((f"{name}.cpu()", f"{name}.detach().cpu()"))
        for each in assigned
    )


def _scopes(interp: Interpreter) -> tuple[int, ...]:
    activation = interp.activation
    assert activation is not None
    return (activation.env, activation.module.env, *(activation.function.scope if activation.function else ()))


def _execute_split(interp: Interpreter, states: list[State], rest: list[ast.stmt]) -> None:
    """Execute the rest of a block on each of two paths that chose different devices, then join them."""
    ends = []
    for state in states:
        interp.state = state
        execute(interp, rest)
        if interp.state is not None:
            ends.append(interp.state)
    interp.state = State.join(ends)


def _with(interp: Interpreter, stmt: ast.With | ast.AsyncWith) -> None:
    before = interp.now.runtime
    managers: list[Value] = []
    for item in stmt.items:
        value = interp.evaluate(item.context_expr)
        managers.append(value)
        options = alternatives(value)
        devices = {option.device for option in options if isinstance(option, DeviceValue)}
        if devices:
            is_one = len(devices) == 1 and all(isinstance(option, DeviceValue) for option in options)
            interp.now.set_runtime(default_device=devices.pop() if is_one else UNKNOWN_DEVICE)
        elif isinstance(value, Unknown) and value.symbol in _WITHOUT_GRADIENTS:
            interp.now.set_runtime(gradients=False)
        entered = instantiation.enter_context(interp, value, item.context_expr)
        if item.optional_vars is not None:
            assignment.assign(interp, item.optional_vars, entered)
    with interp.restored(**interp.now.runtime.changes(before)), contextlib_.leaving(interp, managers, stmt):
        execute(interp, stmt.body)


_WITHOUT_GRADIENTS = ("torch.no_grad()", "torch.inference_mode()", "torch.autograd.no_grad()")


def _try(interp: Interpreter, stmt: ast.Try) -> None:
    start = interp.now.fork()
    execute(interp, stmt.body)
    ends = []
    if interp.state is not None:
        execute(interp, stmt.orelse)
    if interp.state is not None:
        ends.append(interp.state)
    if not any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in stmt.body):
        for handler in stmt.handlers:
            if ends and not _has_effects(handler):
                continue  # it only suppresses the exception: keep the effects of the body
            if ends and not interp.scenario.no_accelerator and does_without_accelerator(stmt, handler):
                continue
            interp.state = start.fork()
            if handler.name:
                interp.bind(handler.name, UNKNOWN)
            execute(interp, handler.body)
            if interp.state is not None:
                ends.append(interp.state)
    interp.state = State.join(ends, replaced=True)
    if interp.state is not None:
        execute(interp, stmt.finalbody)


@node_cache(4096)
def _has_effects(handler: ast.ExceptHandler) -> bool:
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Delete, ast.Import, ast.ImportFrom)
    return any(isinstance(node, kinds) for node in ast.walk(handler))


def _return(interp: Interpreter, stmt: ast.Return) -> None:
    value = NONE if stmt.value is None else interp.evaluate(stmt.value)
    assert interp.activation is not None
    interp.activation.returns.append((interp.now, value))
    interp.state = None


def _break(interp: Interpreter, _: ast.stmt) -> None:
    if interp.loops:
        interp.loops[-1].breaks.append(interp.now)
    interp.state = None


def _continue(interp: Interpreter, _: ast.stmt) -> None:
    if interp.loops:
        interp.loops[-1].continues.append(interp.now)
    interp.state = None


def _raise(interp: Interpreter, stmt: ast.Raise) -> None:
    interp.state = None


def _assign(interp: Interpreter, stmt: ast.Assign) -> None:
    value = interp.evaluate(stmt.value)
    for target in stmt.targets:
        assignment.assign(interp, target, value, source=stmt.value)


def _annotated(interp: Interpreter, stmt: ast.AnnAssign) -> None:
    if stmt.value is not None:
        assignment.assign(interp, stmt.target, interp.evaluate(stmt.value), source=stmt.value)


def _augmented(interp: Interpreter, stmt: ast.AugAssign) -> None:
    target = interp.evaluate(_as_load(stmt.target)) if isinstance(stmt.op, ast.Add) else None
    if isinstance(target, Pointer) and _is_extendable(interp, target):
        methods.call_method(interp, target, "extend", [interp.evaluate(stmt.value)], {}, _extend_call(stmt))
        return  # in place: the target still names the same object
    load = ast.copy_location(ast.BinOp(_as_load(stmt.target), stmt.op, stmt.value), stmt)
    assignment.assign(interp, stmt.target, operators.augmented(interp, load))


def _is_extendable(interp: Interpreter, pointer: Pointer) -> bool:
    obj = interp.heap_object(pointer)
    return isinstance(obj, ListObject) or (
        isinstance(obj, Module) and obj.name in ("torch.nn.ModuleList", "torch.nn.ParameterList")
    )


def _extend_call(stmt: ast.AugAssign) -> ast.Call:
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


def _expression(interp: Interpreter, stmt: ast.Expr) -> None:
    value = interp.evaluate(stmt.value)
    call = stmt.value
    base = None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda"):
        base = call.func.value
    receiver = interp.lookup(base.id) if isinstance(base, ast.Name) else None
    if isinstance(base, ast.Name) and isinstance(receiver, Tensor) and _is_batch_object(interp, base.id):
        interp.bind(base.id, value)
        return
    interp.observe(ExpressionStatement(stmt, value))
    if isinstance(base, ast.Name) and receiver is not None:
        others = [each for each in alternatives(receiver) if not isinstance(each, Pointer)]
        if others and all(map(_may_be_object, others)):
            # the result is unused: a batch object, or a module, that moves in place; an item of a batch may be a tensor
            interp.bind(base.id, _maybe_moved(value) if any(map(_is_of_batch, others)) else value)


def _is_of_batch(value: Value) -> bool:
    return isinstance(value, Tensor) and any(origin.kind == "batch" for origin in value.origins)


def _maybe_moved(value: Value) -> Value:
    return join(
        replace(option, device=UNKNOWN_DEVICE) if isinstance(option, Tensor) else option
        for option in alternatives(value)
    )


def _may_be_object(value: object) -> bool:
    """Return whether a value may be an object that holds tensors."""
    is_guess = isinstance(value, Tensor) and value.maybe_container and not value.is_certain
    return is_guess or isinstance(value, Unknown)


def _is_batch_object(interp: Interpreter, name: str) -> bool:
    """Return whether the function reads attributes of a variable that no tensor has: graphs move in place."""
    assert interp.activation is not None
    return name in _objects(interp.activation.node)


@node_cache(4096)
def _objects(function: ast.AST) -> frozenset[str]:
    """Return the names of variables with attributes that neither tensors nor other values of a library have."""
    called = {id(node.func) for node in walk(function) if isinstance(node, ast.Call)}
    return frozenset(
        node.value.id
        for node in walk(function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and id(node) not in called
        and not kinds_with(node.attr, called=False)
        and not kinds_with(node.attr, called=True)
    )


def _assert(interp: Interpreter, stmt: ast.Assert) -> None:
    """Execute an assertion; one that fails ends the path if it asks for an accelerator, or a device by name.

    If two tensors that it compares are on two devices, the next operation with both says so.
    """
    truth, test = conditions.truth(interp, stmt.test), stmt.test
    asks_by_name = conditions.tests_device(test) and not conditions.compares_tensors(test)
    if truth is False and (interp.scenario.no_accelerator or asks_by_name):
        interp.state = None
    elif truth is None:
        path_conditions.assume(interp, stmt.test, True)


def _delete(interp: Interpreter, stmt: ast.Delete) -> None:
    for target in stmt.targets:
        assignment.delete(interp, target)


def _import(interp: Interpreter, stmt: ast.Import) -> None:
    for alias in stmt.names:
        value = interp.imported(alias.name)
        if alias.asname:
            interp.bind(alias.asname, value)
        else:
            top = alias.name.split(".")[0]
            interp.bind(top, value if top == alias.name else interp.imported(top))


def _import_from(interp: Interpreter, stmt: ast.ImportFrom) -> None:
    activation = interp.activation
    assert activation is not None
    module = activation.module
    if module.waiting is not None and activation.env == module.env and stmt.names[0].name != "*":
        for alias in stmt.names:
            interp.bind(alias.asname or alias.name, ImportedName(module, stmt, alias.name))
        return
    base = interp.imported(stmt.module or "", stmt.level)
    for alias in stmt.names:
        if alias.name == "*":
            _import_all(module, base)
            continue
        interp.bind(alias.asname or alias.name, attributes.imported_name(interp, base, alias.name, stmt))


def _import_all(module: PythonModule, base: Value) -> None:
    """Import every name of a module of the project, or of a package outside."""
    if isinstance(base, Namespace) and base.module not in module.stars:
        module.stars.insert(0, base.module)
    elif isinstance(base, External) and base.name not in module.star_libraries:
        module.star_libraries.insert(0, base.name)


def _define(interp: Interpreter, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    interp.bind(stmt.name, definitions.define_function(interp, stmt))


def _define_class(interp: Interpreter, stmt: ast.ClassDef) -> None:
    interp.bind(stmt.name, definitions.define_class(interp, stmt))


def _match(interp: Interpreter, stmt: ast.Match) -> None:
    subject = interp.evaluate(stmt.subject)
    start, ends = interp.now, []
    for case in stmt.cases:
        fits = patterns.matches(interp, subject, case.pattern)
        if fits is False:
            continue
        interp.state = start.fork()
        patterns.bind(interp, case.pattern, subject)
        execute(interp, case.body)
        if interp.state is not None:
            ends.append(interp.state)
        if fits:
            break
    else:
        ends.append(start)
    interp.state = State.join(ends)


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
