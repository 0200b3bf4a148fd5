"""Calls: arguments to parameters, functions of the project, everything else by what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.flow import (
    assign,
    classes,
    frameworks,
    generators,
    instances,
    iteration,
    library,
    methods,
    module_methods,
    modules,
)
from devfix.flow.knowledge_of_methods import LOOKING_METHODS
from devfix.flow.sites import Frame
from devfix.flow.state import DeadPath, State
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    Const,
    External,
    Function,
    Partial,
    Record,
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

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["Bound", "call", "call_as_made", "call_function", "evaluate_call"]

MOST_DEPTH = 28


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
    return union(found)


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
            return instances.instantiate(run, function, args, keywords, node)
        case Builtin(receiver, name):
            return methods.call_method(run, receiver, name, args, keywords, node)
        case External(name):
            return library.call(run, name, args, keywords, node)
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
            return library.unknown_result(run, getattr(function, "symbol", ""), args, node, keywords)


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
        library.note_load_use(run, function, "object", node, any(_on_accelerator(value) for value in args))
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
            return library.unknown_result(run, record.name, args, node)
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
                    generators.lose(run, option)
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


# --- project functions ------------------------------------------------------------------------------------------
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
    return any(isinstance(child, inner) for child in ast.walk(node) if child is not node)


def _active(run: Interpreter, function: Function) -> int:
    count, frame = 0, run.frame
    while frame is not None:
        count += frame.function is not None and frame.function.node is function.node
        frame = frame.parent
    return count


def one_of_each(run: Interpreter, values: Sequence[Value]) -> Value:
    """The alternatives of what is yielded or collected; objects made by the same expression are one, the latest.

    The body that makes them is followed more than once, but each object that comes out has its own life: a method that
    changes it changes it wholly.
    """
    latest: dict[object, Value] = {}
    for value in (option for each in values for option in options(each)):
        record = run.record(value) if isinstance(value, Ref) else None
        alike = record is not None and record.kind == "instance" and record.born is not None
        latest[(record.cls, record.born.node) if alike and record and record.born else value] = value
    return union(latest.values())


def call_function(
    run: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Run a project function on these arguments."""
    if run.depth > MOST_DEPTH or _active(run, function) > 2:
        return UNKNOWN
    run.called.add(function.node)
    frame = Frame(run.new_env(), function.module, function, parent=run.frame, generator=_is_generator(function.node))
    with run.within(frame):
        _bind_parameters(run, function, args, keywords)
        if isinstance(function.node, ast.Lambda):
            return run.evaluate(function.node.body)
        with run.gradients(run.grad_enabled and not _without_gradients(function.node)):
            run.execute(function.node.body)
        ends = list(frame.returns)
        if run.state is not None:
            ends.append((run.state, NONE))
        run.state = State.join([state for state, _ in ends if isinstance(state, State)])
        if run.state is not None:
            frame.left = run.state.envs.get(frame.env, {})
            if not _makes_closures(function.node):
                run.state.envs.pop(frame.env, None)
    if run.state is None:
        raise DeadPath
    if _is_generator(function.node):
        return Yields(one_of_each(run, frame.yields))
    result = union(value for _, value in ends)
    tensor = all(isinstance(value, Tensor) and value.sure and not value.loose for value in options(result))
    run.facts.gives_tensor[node] = tensor and run.facts.gives_tensor.get(node, True)
    return result


def _bind_parameters(run: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value]) -> None:
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
            value = _missing(run, function, parameter)
        _bind_parameter(run, parameter, value)
    if spec.vararg is not None:
        run.bind(spec.vararg.arg, TupleValue(tuple(args[len(positional) :])))
    for parameter, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        given = keywords.pop(parameter.arg) if parameter.arg in keywords else default
        _bind_parameter(run, parameter, given if given is not None else _missing(run, function, parameter))
    if spec.kwarg is not None:
        run.bind(spec.kwarg.arg, run.new(Record("dict", fields=keywords, rest=spread)))


def _bind_parameter(run: Interpreter, parameter: ast.arg, value: Value) -> None:
    assert run.frame is not None
    node = run.frame.node
    if run.frame.stmt is None and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        run.frame.stmt = node.body[0]
    if not isinstance(node, ast.Lambda):
        assign.note_binding(run, parameter.arg, value, "param", parameter)
    run.now.bind(run.frame.env, parameter.arg, value)


def _missing(run: Interpreter, function: Function, parameter: ast.arg) -> Value:
    """An argument that the followed call does not give (a command-line tool fills it in)."""
    from devfix.flow import commandline

    given = commandline.option_default(run, function, parameter.arg)
    if given is not None:
        return given
    name = getattr(function.node, "name", "lambda")
    return commandline.named(run, f"{function.module.name}.{name}.{parameter.arg}")


__all__ += ["escape"]
