"""Call expressions: arguments are evaluated, then the call is dispatched by the kind of the callee."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain import classes
from devfix.analysis.domain.objects import HeapObject, Mapping
from devfix.analysis.domain.path_conditions import identified
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import (
    ACCELERATOR,
    UNKNOWN,
    UNNAMED,
    Bound,
    Builtin,
    ClassValue,
    Const,
    External,
    Function,
    IterableOf,
    Number,
    Partial,
    Pointer,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    anywhere,
    join,
    present,
)
from devfix.analysis.observations.execution import FunctionCalled, MethodCalled
from devfix.analysis.overlays import transformers_
from devfix.analysis.restored_modules import moved_with_owner
from devfix.analysis.stdlib import environment, numpy_
from devfix.analysis.torch import checkpoints, modules
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.analysis.transfer import external_calls, instantiation, iteration, methods
from devfix.analysis.transfer.functions import call_function, takes
from devfix.models.names import READ_ONLY_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["Bound", "call", "call_forward", "evaluate_call"]

_MOVERS = ("to", "cuda")
_MOST_DEPTH = 2


def evaluate_call(interp: Interpreter, node: ast.Call) -> Value:
    """Evaluate a call expression."""
    function = _callee(interp, node)
    if isinstance(function, External) and function.name == "builtins.super":
        return _super(interp, node)
    args, keywords = _arguments(interp, node)
    is_known = all(isinstance(each, (Bound, Function, ClassValue, Pointer)) for each in alternatives(function))
    interp.direct_call = node if is_known else None
    return call(interp, function, args, keywords, node)


def _callee(interp: Interpreter, node: ast.Call) -> Value:
    """Return the called value; ``x.method`` on a tensor, string or container is always a method."""
    if not isinstance(node.func, ast.Attribute):
        return interp.evaluate(node.func)
    base = interp.evaluate(node.func.value)
    name = node.func.attr
    callees: list[Value] = []
    for option in present(base):
        is_moved_number = isinstance(option, Number) and name in ("cpu", "cuda", "to")
        is_plain = isinstance(option, (Tensor, Const, TupleValue, IterableOf, Function, Bound)) and name != "device"
        if is_plain or is_moved_number:
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
            args.extend(iteration.arguments_of(interp, value, argument))
        else:
            args.append(identified(interp, interp.evaluate(argument), argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = interp.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = identified(interp, value, keyword.value)
        elif (given := _mapping(interp, value)) is not None:
            keywords.update(given.fields)
            if given.default_item is not None:
                keywords["**"] = given.default_item
        else:
            keywords["**"] = value
    return args, keywords


def _forget_unmoved(interp: Interpreter, moved: Pointer, depth: int = 0) -> None:
    """Forget where the attributes of an object are after it has moved itself, if it reads them by computed names.

    On a path on which such a name is none of an attribute, the attribute has not stayed: it is moved in another round.
    """
    if moved.id not in interp.base.computed or depth > _MOST_DEPTH:
        return
    for name, value in list(interp.heap_object(moved).fields.items()):
        interp.now.set_field(moved, name, anywhere(value))
        for option in alternatives(value):
            if isinstance(option, Pointer):
                _forget_unmoved(interp, option, depth + 1)


def _mapping(interp: Interpreter, value: Value) -> HeapObject | None:
    found = interp.heap_object(value) if isinstance(value, Pointer) else None
    return found if isinstance(found, (Mapping, BatchObject)) else None


def call(interp: Interpreter, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """Call a value with evaluated arguments."""
    match function:
        case Function():
            return call_function(interp, function, args, keywords, node)
        case Bound(inner, receiver):
            value = call_function(interp, inner, [receiver, *args], keywords, node)
            if getattr(inner.node, "name", "") in _MOVERS and isinstance(receiver, Pointer):
                _forget_unmoved(interp, receiver)
            return value
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
            return interp.heap_object(function).call(interp, function, args, keywords, node)
        case Union(alternatives):
            return _call_one_of(interp, alternatives, args, keywords, node)
        case Tensor(maybe_container=True):
            return _call_loaded(interp, function, args, keywords, node)
        case Unknown() if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
            moved = interp.new_opaque("")
            return methods.call_method(interp, moved, node.func.attr, args, keywords, node)
        case Unknown() if (device := _setting(interp, args, node)) is not None:
            return device
        case _ if keywords.get("return_tensors") == Const("pt"):
            return transformers_.call_tokenizer(interp, _name(function), keywords, node)
        case _:
            is_read_only = isinstance(node.func, ast.Attribute) and node.func.attr in READ_ONLY_METHODS
            interp.escape([] if is_read_only else [*args, *keywords.values()])
            return external_calls.unknown_result(interp, _name(function), args, node, keywords)


def _setting(interp: Interpreter, args: list[Value], node: ast.Call) -> Value | None:
    """Return the device that an unknown mapping of a program chooses: ``config.get("device", "cuda")``."""
    is_setting = isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(args) == 2
    return environment.chosen_by(interp, args[1]) if is_setting and not interp.observations.is_library else None


def _name(function: Value) -> str:
    """Return the name by which an unknown function is known; empty if it has none."""
    symbol = str(getattr(function, "symbol", ""))
    return "" if symbol.startswith(UNNAMED) else symbol


def _call_one_of(
    interp: Interpreter, functions: tuple[Value, ...], args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call one of several functions, each on a separate path; a method of one of several objects on one after another.

    Whichever object it is, the method has been called on it: ``model.cuda()`` of a model that is new or restored.
    What one of several objects owns is as the call has left it, where methods of their own are called on them.
    """
    functions = tuple(each for each in functions if _may_take(each, len(args), keywords, node)) or functions
    defined = {function.function.node for function in functions if isinstance(function, Bound)}
    if len(defined) == 1 and all(isinstance(function, (Bound, Builtin)) for function in functions):
        return _call_on_each(interp, functions, args, keywords, node)
    if sum(isinstance(function, (Function, Bound, ClassValue, Pointer)) for function in functions) < 2:
        return join(call(interp, function, list(args), dict(keywords), node) for function in functions)
    start, ends, results = interp.now, dict[Value, State](), []
    for function in functions:
        interp.state = start.fork()
        try:
            results.append(call(interp, function, list(args), dict(keywords), node))
            ends[function] = interp.now
        except Unreachable:
            continue
    interp.state = State.join(list(ends.values()))
    if interp.state is None:
        raise Unreachable
    for function, end in ends.items() if len(ends) > 1 else ():
        others = [*args, *keywords.values(), *(_receiver(other) for other in ends if other is not function)]
        for key in _changed_of(_receiver(function), others, start, end):
            interp.state.write(key, end.at(key))
    return join(results)


def _receiver(function: Value) -> Value:
    return function.receiver if isinstance(function, (Bound, Builtin)) else function


def _changed_of(receiver: Value, others: list[Value], start: State, end: State) -> set[int]:
    """Return the objects that a call has changed, of those that its receiver owns: no other value reaches them."""
    written = {key for key in end.branch.written_since(start.branch) if start.has(key)}
    owned = start.reachable_from([receiver], written)
    return owned - start.reachable_from(others, owned)


def _may_take(function: Value, count: int, keywords: dict[str, Value], node: ast.Call) -> bool:
    """Return whether a value may be called with the arguments of a call; one whose parameters are not known may be."""
    inner = function.function if isinstance(function, Bound) else function
    is_open = "**" in keywords or any(isinstance(argument, ast.Starred) for argument in node.args)
    return is_open or not isinstance(inner, Function) or takes(inner, count + (inner is not function), keywords)


def _call_on_each(
    interp: Interpreter, methods: tuple[Value, ...], args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    results = []
    for method in methods:
        before = interp.now.fork()
        try:
            results.append(call(interp, method, list(args), dict(keywords), node))
        except Unreachable:
            interp.state = before
    if not results:
        raise Unreachable
    return join(results)


def _call_loaded(
    interp: Interpreter, function: Tensor, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call the result of ``torch.load``, which is therefore a module; NumPy arrays go to one of another framework."""
    given = [option for value in args for option in alternatives(value)]
    if any(isinstance(option, Unknown) and numpy_.is_of_numpy(option) for option in given):
        return UNKNOWN
    if function.origins and function.origins[0].kind == "load":
        moved = moved_with_owner(interp, function, node)
        if moved is not None:
            return Tensor(moved, maybe_container=True)
        if function.device != ACCELERATOR:
            checkpoints.note_use(interp, function, "object", node, any(_on_accelerator(value) for value in args))
        return Tensor(function.device, maybe_container=True)
    return UNKNOWN


def _on_accelerator(value: Value) -> bool:
    return any(isinstance(option, Tensor) and option.device.kind == "accelerator" for option in alternatives(value))


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
