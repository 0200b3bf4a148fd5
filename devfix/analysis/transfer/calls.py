"""Call expressions: arguments are evaluated, then the call is dispatched by the kind of the callee."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain import classes
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Builtin,
    ClassValue,
    Const,
    External,
    Function,
    IterableOf,
    Partial,
    Pointer,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.execution import Escaped, FunctionCalled, MethodCalled
from devfix.analysis.overlays import transformers_
from devfix.analysis.torch import checkpoints, module_methods, modules
from devfix.analysis.transfer import external_calls, instantiation, iteration, methods
from devfix.analysis.transfer.functions import call_function
from devfix.models.names import READ_ONLY_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["Bound", "call", "call_forward", "escape", "evaluate_call"]


def evaluate_call(interp: Interpreter, node: ast.Call) -> Value:
    """Evaluate a call expression."""
    function = _callee(interp, node)
    if isinstance(function, External) and function.name == "builtins.super":
        return _super(interp, node)
    args, keywords = _arguments(interp, node)
    return call(interp, function, args, keywords, node)


def _callee(interp: Interpreter, node: ast.Call) -> Value:
    """Return the called value; ``x.method`` on a tensor, string or container is always a method."""
    if not isinstance(node.func, ast.Attribute):
        return interp.evaluate(node.func)
    base = interp.evaluate(node.func.value)
    name = node.func.attr
    callees: list[Value] = []
    for option in alternatives(base):
        if isinstance(option, (Tensor, Const, TupleValue, IterableOf, Function, Bound)) and name != "device":
            callees.append(Builtin(option, name))
        else:
            callees.append(interp.attribute(option, name, node.func))
    callee = join(callees)
    if interp.watch is not None:
        interp.watch(interp, node.func, callee)
    return callee


def _super(interp: Interpreter, node: ast.Call) -> Value:
    activation = interp.activation
    while activation is not None and (activation.function is None or activation.function.owner is None):
        activation = activation.parent
    if activation is None or activation.function is None or activation.function.owner is None:
        return UNKNOWN
    arguments = activation.function.node.args
    names = [*arguments.posonlyargs, *arguments.args]
    receiver = interp.now.lookup(activation.env, names[0].arg) if names else None
    owner = activation.function.owner
    if node.args:
        first = interp.evaluate(node.args[0])
        owner = first if isinstance(first, ClassValue) else owner
    return Super(owner, receiver) if receiver is not None else UNKNOWN


def _arguments(interp: Interpreter, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    args: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = interp.evaluate(argument.value)
            items = iteration.elements(interp, value, argument)
            args.extend(items if items is not None else [iteration.element(interp, value, argument)])
        else:
            args.append(interp.evaluate(argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = interp.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Pointer) and interp.heap_object(value).kind in ("dict", "batch-object"):
            keywords.update(interp.heap_object(value).fields)
            rest = interp.heap_object(value).default_item
            if rest is not None:
                keywords["**"] = rest
        else:
            keywords["**"] = value
    return args, keywords


def call(interp: Interpreter, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """Call a value with evaluated arguments."""
    match function:
        case Function():
            return call_function(interp, function, args, keywords, node)
        case Bound(inner, receiver):
            return call_function(interp, inner, [receiver, *args], keywords, node)
        case ClassValue():
            return instantiation.instantiate(interp, function, args, keywords, node)
        case Builtin(receiver, name):
            value = methods.call_method(interp, receiver, name, args, keywords, node)
            owner = receiver.receiver if isinstance(receiver, Super) else receiver
            return interp.observe(MethodCalled(value, owner, name, args, keywords, node)).value
        case External(name):
            value = external_calls.call(interp, name, args, keywords, node)
            return interp.observe(FunctionCalled(value, name, args, keywords, node)).value
        case Partial(inner, bound_args, bound_keywords):
            return call(interp, inner, [*bound_args, *args], {**dict(bound_keywords), **keywords}, node)
        case Pointer():
            return _call_object(interp, function, args, keywords, node)
        case Union(alternatives):
            return _call_one_of(interp, alternatives, args, keywords, node)
        case Tensor(maybe_container=True):
            return _call_loaded(interp, function, args, keywords, node)
        case Unknown() if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
            return methods.move_unknown(interp, node.func.attr, args, keywords, node)
        case _ if keywords.get("return_tensors") == Const("pt"):
            return transformers_.call_tokenizer(interp, getattr(function, "symbol", ""), keywords, node)
        case _:
            is_read_only = isinstance(node.func, ast.Attribute) and node.func.attr in READ_ONLY_METHODS
            escape(interp, [] if is_read_only else [*args, *keywords.values()])
            return external_calls.unknown_result(interp, getattr(function, "symbol", ""), args, node, keywords)


def _call_one_of(
    interp: Interpreter, functions: tuple[Value, ...], args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call one of several functions, each on a separate path."""
    if sum(isinstance(function, (Function, Bound, ClassValue, Pointer)) for function in functions) < 2:
        return join(call(interp, function, list(args), dict(keywords), node) for function in functions)
    start, ends, results = interp.now, [], []
    for function in functions:
        interp.state = start.fork()
        try:
            results.append(call(interp, function, list(args), dict(keywords), node))
            ends.append(interp.now)
        except Unreachable:
            continue
    interp.state = State.join(ends)
    if interp.state is None:
        raise Unreachable
    return join(results)


def _call_loaded(
    interp: Interpreter, function: Tensor, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call the result of ``torch.load``, which is therefore a module."""
    if function.origins and function.origins[0].kind == "load":
        checkpoints.note_use(interp, function, "object", node, any(_on_accelerator(value) for value in args))
        return Tensor(function.device, maybe_container=True)
    return UNKNOWN


def _on_accelerator(value: Value) -> bool:
    return any(isinstance(option, Tensor) and option.device.kind == "accelerator" for option in alternatives(value))


def _call_object(
    interp: Interpreter, pointer: Pointer, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    obj = interp.heap_object(pointer)
    if obj.kind == "tokenizer":
        return transformers_.call_tokenizer(interp, obj.name, keywords, node)
    if obj.kind == "opaque":
        if any(device.kind == "accelerator" for device in obj.devices):
            modules.assume_module(interp, pointer)
        else:
            escape(interp, [*args, *keywords.values()])
            return external_calls.unknown_result(interp, obj.name, args, node)
    obj = interp.heap_object(pointer)
    if obj.kind == "module":
        if obj.get("wraps"):
            return interp.call(obj.fields.get("module", UNKNOWN), args, keywords, node)
        if obj.get("data-parallel"):
            return module_methods.call_parallel(interp, pointer, args, keywords, node)
        replaced = obj.fields.get("forward")
        if replaced is not None:  # ``module.forward = types.MethodType(forward, module)``
            return interp.call(replaced, args, keywords, node)
        return call_forward(interp, pointer, args, keywords, node)
    if obj.cls is not None:
        method = classes.find_member(interp, obj.cls, "__call__")
        if isinstance(method, Function):
            return call_function(interp, method, [pointer, *args], keywords, node)
    return UNKNOWN


def call_forward(
    interp: Interpreter, pointer: Pointer, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call a module through the ``forward`` of its class."""
    obj = interp.heap_object(pointer)
    found = classes.find_member(interp, obj.cls, "forward") if obj.cls is not None else None
    override = classes.find_member(interp, obj.cls, "__call__") if obj.cls is not None else None
    if isinstance(override, Function):
        return call_function(interp, override, [pointer, *args], keywords, node)
    if isinstance(found, Function):
        return call_function(interp, found, [pointer, *args], keywords, node)
    if obj.name == "torch.nn.Sequential" or (obj.cls is not None and obj.name.endswith("Sequential")):
        return modules.call_sequential(interp, pointer, args, node)
    return modules.call_leaf(interp, pointer, args, keywords, node)


def escape(interp: Interpreter, values: Iterable[Value], depth: int = 0) -> None:
    """Pass values to unknown code: it may move the modules and tensors among them."""
    for value in values:
        for option in alternatives(value):
            if isinstance(option, Pointer):
                interp.observe(Escaped(option))
                obj = interp.heap_object(option)
                if obj.kind == "module":
                    modules.forget_device(interp, option)
                elif obj.kind == "batch-object":
                    interp.now.update(option, default_item=Tensor(UNKNOWN_DEVICE, maybe_container=True))
                elif obj.kind in ("list", "dict", "instance") and obj.fields and depth < 3:
                    escape(interp, obj.fields.values(), depth + 1)
                    fields = {name: _after_escape(item) for name, item in interp.heap_object(option).fields.items()}
                    interp.now.update(option, fields=fields)


def _after_escape(value: Value) -> Value:
    """Return a value after its container was passed to unknown code: the device of a CPU tensor is unknown."""
    return (
        replace(value, device=UNKNOWN_DEVICE, origins=())
        if isinstance(value, Tensor) and value.device == CPU
        else value
    )
