"""Calls of project functions: parameters are bound, the body is executed, its exit states are joined."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.analysis import random_branches
from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.device_parsing import names_device
from devfix.analysis.domain.location import Activation, ProgramPoint
from devfix.analysis.domain.objects import Container, Mapping, Opaque, module_at, object_at
from devfix.analysis.domain.splits import share_sides
from devfix.analysis.domain.state import RETURNED, State, Unreachable
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Const,
    DeviceValue,
    External,
    Function,
    IterableOf,
    Number,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import argparse_, contextlib_
from devfix.analysis.stdlib.containers import DictObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.transfer import assignment
from devfix.analysis.transfer.summaries import Summary, pointers_in
from devfix.models.flags import asks_for_accelerator
from devfix.models.index import lookup
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_function", "join_by_identity", "takes"]

MAX_DEPTH = 28
MOST_NESTED_CONTAINERS = 64  # in the result of a recursive call
MAX_NESTING = 4  # levels of nested containers that are compared
_NUMBERS = frozenset({"int", "float"})  # annotations
_ARRAYS = frozenset({"np.ndarray", "numpy.ndarray", "ndarray", "NDArray", "npt.NDArray", "np.array"})


@node_cache(8192)
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


@node_cache(8192)
def _without_gradients(node: ast.AST) -> bool:
    """Return whether a function is decorated with ``@torch.no_grad()`` or ``@torch.inference_mode()``."""
    names = ("no_grad", "inference_mode")
    return any(name in text_of(decorator) for decorator in getattr(node, "decorator_list", ()) for name in names)


@node_cache(8192)
def _makes_closures(node: ast.AST) -> bool:
    """Return whether a function contains definitions that may use its names after it returns."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(child, inner) for child in walk(node) if child is not node)


def _recursion_depth(interp: Interpreter, function: Function) -> int:
    count, activation = 0, interp.activation
    while activation is not None:
        count += activation.function is not None and activation.function.node is function.node
        activation = activation.parent
    return count


def _is_move(function: Function) -> bool:
    """Return whether a function is a class's own ``to`` or ``cuda``.

    It is called for the move: a path that returns without it is for a mode that few programs use, such as offloading.
    """
    return getattr(function.node, "name", "") in ("to", "cuda")


def _moved_at(state: State, value: Value | None) -> ProgramPoint | None:
    """Return the last move of a module; ``None`` if there was none, or if the value is no module."""
    module = module_at(state, value)
    return None if module is None else module.last_moved_at


def _holds_many_containers(interp: Interpreter, result: Value) -> bool:
    """Return whether a value is a tree of many containers.

    A function that converts nested data calls itself for lists, dictionaries and tuples of unknown data, and each level
    has all alternatives of the one below.
    """
    seen: set[int] = set()
    pending = [result]
    while pending and len(seen) <= MOST_NESTED_CONTAINERS:
        for option in alternatives(pending.pop()):
            if isinstance(option, TupleValue):
                pending.extend(option.items)
            elif isinstance(option, Pointer) and option.id not in seen:
                obj = interp.heap_object(option)
                if isinstance(obj, Container):
                    seen.add(option.id)
                    pending.extend(obj.contents)
    return len(seen) > MOST_NESTED_CONTAINERS


def join_by_identity(interp: Interpreter, values: Sequence[Value]) -> Value:
    """Join yielded or collected values; of objects created by the same expression, keep the latest.

    A loop body is executed more than once, and each execution creates its own object: without merging, a method call
    would update only one of several alternatives.  Lists and dictionaries with the same items are merged as well.
    """
    latest: dict[object, Value] = {}
    for value in (option for each in values for option in alternatives(each)):
        latest[_identity(interp, value)] = value
    return join(latest.values())


def _identity(interp: Interpreter, value: Value, depth: int = 0) -> object:
    """Return a key that is equal for the values of two iterations of one loop; the value itself by default."""
    if isinstance(value, TupleValue):
        return ("tuple", *(_identity(interp, item, depth) for item in value.items))
    if not isinstance(value, Pointer) or depth > MAX_NESTING:
        return value
    obj = interp.heap_object(value)
    if isinstance(obj, InstanceObject) and obj.allocated_at is not None:
        return (obj.cls, obj.allocated_at.node)
    if not isinstance(obj, Container):
        return value
    fields = tuple((name, _identity(interp, item, depth + 1)) for name, item in obj.fields.items())
    rest = None if obj.default_item is None else _identity(interp, obj.default_item, depth + 1)
    return (obj.builtin, fields, rest, obj.holder, obj.position, isinstance(obj, Mapping) and obj.odd_keys)


def call_function(
    interp: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call a project function and return its result; raises ``Unreachable`` if it does not return.

    One with ``@functools.cache`` runs once for the same arguments.
    """
    steps = contextlib_.steps(function.node)
    if steps is not None and contextlib_.is_entered(interp, node):
        return _make_manager(interp, function, args, keywords, node, *steps)
    if not _is_cached(function.node):
        return _follow(interp, function, args, keywords, node)
    key = function.node, tuple(args), tuple(sorted(keywords.items(), key=lambda item: item[0]))
    if key not in interp.cached:
        result = _follow(interp, function, args, keywords, node)
        if any(pointers_in([result])):
            return result  # an object of this path
        interp.cached[key] = result
    return interp.cached[key]


def _make_manager(
    interp: Interpreter,
    function: Function,
    args: list[Value],
    keywords: dict[str, Value],
    node: ast.Call,
    before: list[ast.stmt],
    rest: list[ast.stmt],
) -> Value:
    """Execute a function under ``@contextmanager`` up to its ``yield``; the ``with`` statement executes the rest."""
    if interp.depth > MAX_DEPTH or _recursion_depth(interp, function) > 2:
        return UNKNOWN
    interp.visited.add(function.node)
    interp.called.setdefault(function.node, function.module.path)
    activation = Activation(interp.new_env(), function.module, function, parent=interp.activation, generator=True)
    with interp.within(activation):
        _bind_parameters(interp, function, args, keywords)
        interp.execute(before)
    if interp.state is None:
        raise Unreachable
    yielded = {"yielded": join(activation.yields)}
    return interp.new(
        contextlib_.ManagerObject(
            getattr(function.node, "name", ""),
            fields=yielded,
            allocated_at=interp.point(node),
            activation=activation,
            rest=tuple(rest),
        )
    )


@node_cache(8192)
def _is_cached(node: ast.AST) -> bool:
    """Return whether a function keeps its results: ``@functools.lru_cache(maxsize=None)``."""
    decorators = (each.func if isinstance(each, ast.Call) else each for each in getattr(node, "decorator_list", ()))
    return any(text_of(each).split(".")[-1] in ("cache", "lru_cache") for each in decorators)


def _follow(
    interp: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    if interp.depth > MAX_DEPTH or _recursion_depth(interp, function) > 2:
        return UNKNOWN
    is_written_out = interp.direct_call is node and _is_written_out(interp, function, args, keywords, node)
    if is_written_out and not takes(function, len(args), keywords):
        raise Unreachable  # a TypeError
    interp.visited.add(function.node)
    given = [*args[function.owner is not None and function.kind != "static" :], *keywords.values()]
    if function.node not in interp.called and (not given or _tells_devices(interp, given)):
        interp.called[function.node] = function.module.path
    summary: Summary = interp.summaries.setdefault(function.node, Summary())
    passed = [*args, *keywords.values()]
    places = summary.places(interp, passed)
    if summary.is_settled(places):
        if getattr(function.node, "name", "") == "__init__" and args and isinstance(args[0], Pointer):
            interp.unfollowed.add(args[0].id)
        return summary.apply(interp, places, passed)
    activation = Activation(
        interp.new_env(), function.module, function, parent=interp.activation, generator=_is_generator(function.node)
    )
    moving = args[0] if function.owner is not None and args and _is_move(function) else None
    moved_before = _moved_at(interp.now, moving)
    with interp.within(activation), summary.context(interp, places, activation.env):
        _bind_parameters(interp, function, args, keywords)
        if isinstance(function.node, ast.Lambda):
            return interp.evaluate(function.node.body)
        _execute_body(interp, function.node)
        exits = activation.returns
        activation.returns = []  # call stacks keep the activation: its states need not outlive the call
        if interp.state is not None:
            exits.append((interp.state, NONE))
        if moving is not None:
            exits = [each for each in exits if _moved_at(each[0], moving) is not moved_before] or exits
        is_placed = any(isinstance(part, (Pointer, Tensor)) for _, value in exits for part in _parts(value))
        for state, value in exits if is_placed and len(exits) > 1 else ():
            state.bind(activation.env, RETURNED, value)
        is_left = not (_is_generator(function.node) or _makes_closures(function.node))
        interp.state = State.join([state for state, _ in exits], left=activation.env if is_left else None)
        interp.count_handled()
        if interp.state is not None:
            returned = exits[0][1] if len(exits) == 1 else interp.state.lookup(activation.env, RETURNED)
            found = interp.state.envs.get(activation.env, {})
            activation.final_locals = {name: value for name, value in found.items() if name != RETURNED}
            if not _makes_closures(function.node):
                interp.state.drop_env(activation.env)
            else:
                interp.state.base.ended.add(activation.env)
    if interp.state is None:
        raise Unreachable
    if _is_generator(function.node):
        items = IterableOf(join_by_identity(interp, activation.yields))
        summary.note_result(places, items, passed, activation.env)
        return items
    random_branches.note_returns(interp, function, exits)
    result = returned if returned is not None else join(value for _, value in exits)
    if _recursion_depth(interp, function) and _holds_many_containers(interp, result):
        result = UNKNOWN
    is_tensor = all(
        isinstance(value, Tensor) and value.is_certain and not value.maybe_container for value in alternatives(result)
    )
    interp.observations.returns_tensor[node] = is_tensor and interp.observations.returns_tensor.get(node, True)
    summary.note_result(places, result, passed, activation.env)
    return result


def _parts(value: Value) -> Sequence[Value]:
    return value.items if isinstance(value, TupleValue) else (value,)


def takes(function: Function, count: int, keywords: dict[str, Value]) -> bool:
    """Return whether a function has a parameter for each argument, and an argument for each parameter it requires.

    ``count`` is the number of positional arguments, with the receiver of a method.
    """
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    names = {each.arg for each in (*spec.args, *spec.kwonlyargs)}
    required = positional[count : max(count, len(positional) - len(spec.defaults))]
    return (
        (count <= len(positional) or spec.vararg is not None)
        and {each.arg for each in required} <= set(keywords)
        and (spec.kwarg is not None or set(keywords) <= names)
    )


def _is_written_out(
    interp: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> bool:
    """Return whether a function gets what a call has, as it is written: nothing is unpacked, or in between.

    A call without any arguments may get them from a library for command lines; that of a plain class does not.
    ``super()`` may be another class than the one that is written.
    """
    if getattr(function.node, "decorator_list", None) or (function.owner is not None and function.owner.node.keywords):
        return False  # a metaclass may pass more
    if text_of(node.func).startswith("super("):
        return False
    is_bound = function.owner is not None and function.kind != "static"
    is_plain = "**" not in keywords and not any(isinstance(each, ast.Starred) for each in node.args)
    has_arguments = bool(node.args or node.keywords) or _is_of_plain_class(interp, function, args)
    return is_plain and has_arguments and len(node.args) == len(args) - is_bound


def _is_of_plain_class(interp: Interpreter, function: Function, args: list[Value]) -> bool:
    """Return whether a function is the constructor of a class that nothing decorates, nor any of its bases.

    None of them has a metaclass; a base of which nothing is known may have one.
    """
    instance = interp.heap_object(args[0]) if args and isinstance(args[0], Pointer) else None
    if instance is None or instance.cls is None or getattr(function.node, "name", "") != "__init__":
        return False
    return all(map(_is_plain_class, mro(instance.cls)))


def _is_plain_class(cls: Value) -> bool:
    if isinstance(cls, ClassValue):
        return not cls.node.decorator_list and not cls.node.keywords
    return isinstance(cls, External) and (cls.name.startswith("builtins.") or lookup(cls.name) is not None)


def _tells_devices(interp: Interpreter, arguments: Sequence[Value], depth: int = 0) -> bool:
    """Return whether a call says where its tensors are.

    An argument is a tensor or a module on a known device, or a container of such tensors.
    """
    for option in (option for value in arguments for option in alternatives(value)):
        if isinstance(option, Tensor):
            if option.device.known:
                return True
        elif isinstance(option, Pointer):
            obj = interp.heap_object(option)
            if any(device.known for device in obj.devices):
                return True
            if depth < 2 and isinstance(obj, Container) and _tells_devices(interp, obj.contents, depth + 1):
                return True
    return False


def _execute_body(interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if not _without_gradients(node):
        interp.execute(node.body)
        return
    with interp.restored(gradients=interp.now.runtime.gradients):
        interp.now.set_runtime(gradients=False)
        interp.execute(node.body)


def _bind_parameters(interp: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value]) -> None:
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    keywords = dict(keywords)
    unpacked = keywords.pop("**", None)
    first_default = len(positional) - len(function.defaults)
    for index, parameter in enumerate(positional):
        if index < len(args):
            value = args[index]
        elif parameter.arg in keywords:
            value = keywords.pop(parameter.arg)
        elif unpacked is not None and isinstance(unpacked, Tensor):
            value = Unknown(parameter.arg) if _is_array(parameter) else unpacked
        elif index >= first_default:
            value = _default(parameter, function.defaults[index - first_default], unpacked)
        else:
            value = _missing_argument(interp, function, parameter)
        _bind_parameter(interp, parameter, value)
    if spec.vararg is not None:
        interp.bind(spec.vararg.arg, TupleValue(tuple(args[len(positional) :])))
    for parameter, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        argument = keywords.pop(parameter.arg) if parameter.arg in keywords else default
        if argument is not None and argument is default:
            argument = _default(parameter, default, unpacked)
        _bind_parameter(
            interp, parameter, argument if argument is not None else _missing_argument(interp, function, parameter)
        )
    if spec.kwarg is not None:
        interp.bind(spec.kwarg.arg, interp.new(DictObject(fields=keywords, default_item=unpacked)))


def _default(parameter: ast.arg, default: Value, unpacked: Value | None) -> Value:
    """Return the default of a parameter; of a device, or a flag for one, ``**options`` may give another value."""
    if unpacked is None:
        return default
    value = default.value if isinstance(default, Const) else None
    is_device = isinstance(default, DeviceValue) or (isinstance(value, str) and names_device(value))
    may_be_given = is_device or (isinstance(value, bool) and asks_for_accelerator(parameter.arg) is not None)
    return Unknown(parameter.arg) if may_be_given else default


def _bind_parameter(interp: Interpreter, parameter: ast.arg, value: Value) -> None:
    assert interp.activation is not None
    node = interp.activation.node
    if interp.activation.stmt is None and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        interp.activation.stmt = node.body[0]
    if not isinstance(node, ast.Lambda):
        assignment.record_binding(interp, parameter.arg, value, "param", parameter)
    if isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in _NUMBERS:
        value = join(_as_number(interp, each) for each in alternatives(value))
    if _is_array(parameter):
        value = join(Unknown(parameter.arg) if _is_guess(each) else each for each in alternatives(value))
    interp.now.bind(interp.activation.env, parameter.arg, value)
    if isinstance(value, Union):
        share_sides(interp.now, interp.activation.env, parameter.arg, value)


def _is_array(parameter: ast.arg) -> bool:
    """Return whether a parameter is declared to be an array."""
    return parameter.annotation is not None and text_of(parameter.annotation).split("[")[0] in _ARRAYS


def _is_guess(value: Value) -> bool:
    """Return whether a value is taken for a tensor, or for a container of some, without any evidence."""
    return isinstance(value, Tensor) and (value.maybe_container or not value.is_certain)


def _as_number(interp: Interpreter, value: Value) -> Value:
    """Return a value of which nothing is known, or that is a guess, as the number that an annotation says it is."""
    if isinstance(value, Unknown):
        return Number(value.symbol)
    is_open = isinstance(value, External) or object_at(interp, value, Opaque) is not None or _is_guess(value)
    return Number() if is_open else value


def _missing_argument(interp: Interpreter, function: Function, parameter: ast.arg) -> Value:
    """Return the value of a parameter without an argument, which a command-line library may provide."""
    default = argparse_.option_default(interp, function, parameter.arg)
    if default is not None:
        return default
    name = getattr(function.node, "name", "lambda")
    return argparse_.value_by_name(interp, f"{function.module.name}.{name}.{parameter.arg}")
