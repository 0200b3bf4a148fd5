"""Functions of the project: their parameters are bound, their body is run, its ends are joined."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis import random_branches
from devfix.analysis.domain.location import Activation
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Function,
    HeapObject,
    IterableOf,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import argparse_
from devfix.analysis.transfer import assignment
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_function", "join_by_identity"]

MOST_DEPTH = 28
MOST_NESTED = 4  # containers within containers that are compared


@lru_cache(maxsize=8192)
def _is_generator(node: ast.AST) -> bool:
    if isinstance(node, ast.Lambda):
        return False
    stack: list[ast.AST] = list(getattr(node, "body", []))
    while stack:
        inner = stack.pop()
        if isinstance(inner, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(inner))
    return False


@lru_cache(maxsize=8192)
def _without_gradients(node: ast.AST) -> bool:
    """Whether a function stands under ``@torch.no_grad()``."""
    words = ("no_grad", "inference_mode")
    return any(word in text_of(decorator) for decorator in getattr(node, "decorator_list", ()) for word in words)


@lru_cache(maxsize=8192)
def _makes_closures(node: ast.AST) -> bool:
    """Whether a function's names can be used after it has returned."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(child, inner) for child in walk(node) if child is not node)


def _active(interp: Interpreter, function: Function) -> int:
    count, activation = 0, interp.activation
    while activation is not None:
        count += activation.function is not None and activation.function.node is function.node
        activation = activation.parent
    return count


def join_by_identity(interp: Interpreter, values: Sequence[Value]) -> Value:
    """The alternatives of what is yielded or collected; objects made by the same expression are one, the latest.

    The body that makes them is followed more than once, but each object that comes out has its own life: a method that
    changes it changes it wholly.  So are lists and dictionaries that hold the same under the same names.
    """
    latest: dict[object, Value] = {}
    for value in (option for each in values for option in alternatives(each)):
        latest[_identity(interp, value)] = value
    return join(latest.values())


def _identity(interp: Interpreter, value: Value, depth: int = 0) -> object:
    """What two values have in common that came out of two turns of one loop; the value itself where nothing tells."""
    if isinstance(value, TupleValue):
        return ("tuple", *(_identity(interp, item, depth) for item in value.items))
    if not isinstance(value, Pointer) or depth > MOST_NESTED:
        return value
    obj = interp.heap_object(value)
    if obj.kind == "instance" and obj.allocated_at is not None:
        return (obj.cls, obj.allocated_at.node)
    if obj.kind not in ("list", "dict") or obj.cls is not None:
        return value
    held = tuple((name, _identity(interp, item, depth + 1)) for name, item in obj.fields.items())
    return (
        obj.kind,
        held,
        obj.info,
        None if obj.default_item is None else _identity(interp, obj.default_item, depth + 1),
    )


def call_function(
    interp: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Run a project function on these arguments."""
    if interp.depth > MOST_DEPTH or _active(interp, function) > 2:
        return UNKNOWN
    interp.called.add(function.node)
    activation = Activation(
        interp.new_env(), function.module, function, parent=interp.activation, generator=_is_generator(function.node)
    )
    with interp.within(activation):
        _bind_parameters(interp, function, args, keywords)
        if isinstance(function.node, ast.Lambda):
            return interp.evaluate(function.node.body)
        with interp.gradients(interp.grad_enabled and not _without_gradients(function.node)):
            interp.execute(function.node.body)
        ends = list(activation.returns)
        if interp.state is not None:
            ends.append((interp.state, NONE))
        interp.state = State.join([state for state, _ in ends if isinstance(state, State)])
        if interp.state is not None:
            activation.final_locals = interp.state.envs.get(activation.env, {})
            if not _makes_closures(function.node):
                interp.state.envs.pop(activation.env, None)
    if interp.state is None:
        raise Unreachable
    if _is_generator(function.node):
        return IterableOf(join_by_identity(interp, activation.yields))
    random_branches.note_returns(interp, function, ends)
    result = join(value for _, value in ends)
    tensor = all(
        isinstance(value, Tensor) and value.is_certain and not value.maybe_container for value in alternatives(result)
    )
    interp.observations.gives_tensor[node] = tensor and interp.observations.gives_tensor.get(node, True)
    return result


def _bind_parameters(interp: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value]) -> None:
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    keywords = dict(keywords)
    spread = keywords.pop("**", None)
    first_default = len(positional) - len(function.defaults)
    for index, parameter in enumerate(positional):
        if index < len(args):
            value = args[index]
        elif parameter.arg in keywords:
            value = keywords.pop(parameter.arg)
        elif spread is not None and isinstance(spread, Tensor):
            value = spread
        elif index >= first_default:
            value = function.defaults[index - first_default]
        else:
            value = _missing(interp, function, parameter)
        _bind_parameter(interp, parameter, value)
    if spec.vararg is not None:
        interp.bind(spec.vararg.arg, TupleValue(tuple(args[len(positional) :])))
    for parameter, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        given = keywords.pop(parameter.arg) if parameter.arg in keywords else default
        _bind_parameter(interp, parameter, given if given is not None else _missing(interp, function, parameter))
    if spec.kwarg is not None:
        interp.bind(spec.kwarg.arg, interp.new(HeapObject("dict", fields=keywords, default_item=spread)))


def _bind_parameter(interp: Interpreter, parameter: ast.arg, value: Value) -> None:
    assert interp.activation is not None
    node = interp.activation.node
    if interp.activation.stmt is None and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        interp.activation.stmt = node.body[0]
    if not isinstance(node, ast.Lambda):
        assignment.record_binding(interp, parameter.arg, value, "param", parameter)
    interp.now.bind(interp.activation.env, parameter.arg, value)


def _missing(interp: Interpreter, function: Function, parameter: ast.arg) -> Value:
    """An argument that the followed call does not give (a command-line tool fills it in)."""
    given = argparse_.option_default(interp, function, parameter.arg)
    if given is not None:
        return given
    name = getattr(function.node, "name", "lambda")
    return argparse_.named(interp, f"{function.module.name}.{name}.{parameter.arg}")
