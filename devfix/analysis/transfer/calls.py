"""Calls: arguments to parameters, functions of the project, everything else by what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain import classes
from devfix.analysis.domain.state import DeadPath, State
from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    Const,
    External,
    Function,
    Partial,
    Ref,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.overlays import frameworks
from devfix.analysis.torch import module_methods, modules, rng
from devfix.analysis.transfer import external_calls, instantiation, iteration, methods
from devfix.analysis.transfer.functions import call_function
from devfix.models.tensor_methods import LOOKING_METHODS

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["Bound", "call", "call_as_made", "escape", "evaluate_call"]


def evaluate_call(run: Interpreter, node: ast.Call) -> Value:
    """A call expression."""
    function = _callee(run, node)
    if isinstance(function, External) and function.name == "builtins.super":
        return _super(run, node)
    args, keywords = _arguments(run, node)
    return call(run, function, args, keywords, node)


def _callee(run: Interpreter, node: ast.Call) -> Value:
    """The called value; ``x.method`` on a tensor, text or container is always a method."""
    if not isinstance(node.func, ast.Attribute):
        return run.evaluate(node.func)
    base = run.evaluate(node.func.value)
    name = node.func.attr
    found: list[Value] = []
    for option in options(base):
        if isinstance(option, (Tensor, Const, TupleValue, Yields, Function, Bound)) and name != "device":
            found.append(Builtin(option, name))
        else:
            found.append(run.attribute(option, name, node.func))
    callee = union(found)
    if run.watch is not None:
        run.watch(run, node.func, callee)
    return callee


def _super(run: Interpreter, node: ast.Call) -> Value:
    frame = run.frame
    while frame is not None and (frame.function is None or frame.function.owner is None):
        frame = frame.parent
    if frame is None or frame.function is None or frame.function.owner is None:
        return UNKNOWN
    arguments = frame.function.node.args
    names = [*arguments.posonlyargs, *arguments.args]
    receiver = run.now.lookup(frame.env, names[0].arg) if names else None
    owner = frame.function.owner
    if node.args:
        first = run.evaluate(node.args[0])
        owner = first if isinstance(first, ClassValue) else owner
    return Super(owner, receiver) if receiver is not None else UNKNOWN


def _arguments(run: Interpreter, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    args: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = run.evaluate(argument.value)
            known = iteration.elements(run, value, argument)
            args.extend(known if known is not None else [iteration.element(run, value, argument)])
        else:
            args.append(run.evaluate(argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = run.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Ref) and run.record(value).kind in ("dict", "bundle"):
            keywords.update(run.record(value).fields)
            rest = run.record(value).rest
            if rest is not None:
                keywords["**"] = rest
        else:
            keywords["**"] = value
    return args, keywords


def call(run: Interpreter, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """Call a value with evaluated arguments."""
    match function:
        case Function():
            return call_function(run, function, args, keywords, node)
        case Bound(inner, receiver):
            return call_function(run, inner, [receiver, *args], keywords, node)
        case ClassValue():
            return instantiation.instantiate(run, function, args, keywords, node)
        case Builtin(receiver, name):
            return methods.call_method(run, receiver, name, args, keywords, node)
        case External(name):
            return external_calls.call(run, name, args, keywords, node)
        case Partial(inner, held, named):
            return call(run, inner, [*held, *args], {**dict(named), **keywords}, node)
        case Ref():
            return _call_object(run, function, args, keywords, node)
        case Union(alternatives):
            return _call_one_of(run, alternatives, args, keywords, node)
        case Tensor(loose=True):
            return _call_loaded(run, function, args, keywords, node)
        case Unknown() if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
            return methods.move_unknown(run, node.func.attr, args, keywords, node)
        case _ if keywords.get("return_tensors") == Const("pt"):
            return frameworks.encoding(run, getattr(function, "symbol", ""), keywords, node)
        case _:
            looks = isinstance(node.func, ast.Attribute) and node.func.attr in LOOKING_METHODS
            escape(run, [] if looks else [*args, *keywords.values()])
            return external_calls.unknown_result(run, getattr(function, "symbol", ""), args, node, keywords)


def _call_one_of(
    run: Interpreter, functions: tuple[Value, ...], args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """One of several functions is called: each on its own path."""
    if sum(isinstance(function, (Function, Bound, ClassValue, Ref)) for function in functions) < 2:
        return union(call(run, function, list(args), dict(keywords), node) for function in functions)
    start, ends, results = run.now, [], []
    for function in functions:
        run.state = start.fork()
        try:
            results.append(call(run, function, list(args), dict(keywords), node))
            ends.append(run.now)
        except DeadPath:
            continue
    run.state = State.join(ends)
    if run.state is None:
        raise DeadPath
    return union(results)


def _call_loaded(
    run: Interpreter, function: Tensor, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """What ``torch.load`` gave is called: it was a whole module."""
    if function.births and function.births[0].kind == "load":
        external_calls.note_load_use(run, function, "object", node, any(_on_accelerator(value) for value in args))
        return Tensor(function.place, loose=True)
    return UNKNOWN


def _on_accelerator(value: Value) -> bool:
    return any(isinstance(option, Tensor) and option.place.kind == "accelerator" for option in options(value))


def _call_object(run: Interpreter, ref: Ref, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    record = run.record(ref)
    if record.kind == "tokenizer":
        return frameworks.encoding(run, record.name, keywords, node)
    if record.kind == "opaque":
        if any(place.kind == "accelerator" for place in record.places):
            modules.promote(run, ref)
        else:
            escape(run, [*args, *keywords.values()])
            return external_calls.unknown_result(run, record.name, args, node)
    record = run.record(ref)
    if record.kind == "module":
        if record.get("wraps"):
            return run.call(record.fields.get("module", UNKNOWN), args, keywords, node)
        if record.get("data-parallel"):
            return module_methods.call_parallel(run, ref, args, keywords, node)
        replaced = record.fields.get("forward")
        if replaced is not None:  # ``module.forward = types.MethodType(forward, module)``
            return run.call(replaced, args, keywords, node)
        return call_as_made(run, ref, args, keywords, node)
    if record.cls is not None:
        method = classes.member(run, record.cls, "__call__")
        if isinstance(method, Function):
            return call_function(run, method, [ref, *args], keywords, node)
    return UNKNOWN


def call_as_made(run: Interpreter, ref: Ref, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """Call a module by the ``forward`` that its class has."""
    record = run.record(ref)
    found = classes.member(run, record.cls, "forward") if record.cls is not None else None
    override = classes.member(run, record.cls, "__call__") if record.cls is not None else None
    if isinstance(override, Function):
        return call_function(run, override, [ref, *args], keywords, node)
    if isinstance(found, Function):
        return call_function(run, found, [ref, *args], keywords, node)
    if record.name == "torch.nn.Sequential" or (record.cls is not None and record.name.endswith("Sequential")):
        return _call_sequence(run, ref, args, node)
    return modules.call_leaf(run, ref, args, keywords, node)


def _call_sequence(run: Interpreter, ref: Ref, args: list[Value], node: ast.Call) -> Value:
    value = args[0] if args else UNKNOWN
    for _, part in list(modules.children(run, run.record(ref))):
        value = call(run, part, [value], {}, node)
    return value


def escape(run: Interpreter, values: Iterable[Value], depth: int = 0) -> None:
    """Values go to code that cannot be read: modules among them may be moved there."""
    for value in values:
        for option in options(value):
            if isinstance(option, Ref):
                record = run.record(option)
                if record.kind == "generator":
                    rng.lose(run, option)
                elif record.kind == "module":
                    modules.forget(run, option)
                elif record.kind == "bundle":
                    run.now.update(option, rest=Tensor(ANYWHERE, loose=True))
                elif record.kind in ("list", "dict", "instance") and record.fields and depth < 3:
                    escape(run, record.fields.values(), depth + 1)
                    fields = {name: _somewhere(held) for name, held in run.record(option).fields.items()}
                    run.now.update(option, fields=fields)


def _somewhere(value: Value) -> Value:
    """A tensor inside an object that unknown code was given: it may have been moved there."""
    return replace(value, place=ANYWHERE, births=()) if isinstance(value, Tensor) and value.place == CPU else value
