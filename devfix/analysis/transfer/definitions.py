"""Definitions: ``def``, ``lambda`` and ``class``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.location import Activation
from devfix.analysis.domain.objects import Opaque, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import Bound, ClassValue, External, Function, Partial, Value
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import implicit_call, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["define_class", "define_function", "make_function"]


def define_function(interp: Interpreter, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
    """Return the value of a ``def``; decorators of the project are applied, other decorators return the function."""
    function = make_function(interp, stmt)
    value: Value = function
    for decorator in reversed(stmt.decorator_list):
        value = _decorated(interp, value, function, decorator)
    return value


def make_function(interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
    """Return a function with its evaluated defaults and its enclosing scopes."""
    activation = interp.activation
    assert activation is not None
    enclosing = activation.function.scope if activation.function is not None else ()
    in_class = activation.function is None and activation.env != activation.module.env
    scope = enclosing if in_class or activation.env == activation.module.env else (*enclosing, activation.env)
    defaults = tuple(interp.evaluate(default) for default in node.args.defaults)
    keyword_defaults = tuple(None if d is None else interp.evaluate(d) for d in node.args.kw_defaults)
    return Function(node, activation.module, scope, defaults=defaults, keyword_defaults=keyword_defaults)


_KINDS = {"property": "property", "staticmethod": "static", "classmethod": "class", "cached_property": "property"}


def _decorated(interp: Interpreter, value: Value, function: Function, decorator: ast.expr) -> Value:
    if isinstance(decorator, ast.Name) and decorator.id in _KINDS:
        return replace(function, kind=_KINDS[decorator.id])
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        return replace(function, kind=decorator.attr)
    function_value = interp.evaluate(decorator)
    if _registers(interp, decorator):
        interp.registered.append(function)
    if isinstance(function_value, External) and function_value.name.endswith("cached_property"):
        return replace(function, kind="property")
    if isinstance(function_value, (Function, Bound)) and not _only_registers(function_value):
        node = ast.copy_location(ast.Call(decorator, [], []), decorator)
        result = interp.call(function_value, [value], {}, node)
        return result if isinstance(result, (Function, Bound, Partial)) else value
    return value


def _registers(interp: Interpreter, decorator: ast.expr) -> bool:
    """Return whether an object of a library gets the function, to call it later: ``@app.route("/")``, ``@ex.main``."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return False
    owner = object_at(interp, interp.evaluate(function.value), Opaque)
    return owner is not None and owner.constructed


@node_cache(1024)
def _returns_argument(node: ast.AST) -> bool:
    """Return whether a long decorator returns its argument on every path."""
    returns = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    arguments = getattr(node, "args", None)
    first = arguments.args[0].arg if arguments is not None and arguments.args else ""
    long = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) > 12
    return long and bool(returns) and all(isinstance(value, ast.Name) and value.id == first for value in returns)


def _only_registers(value: Function | Bound) -> bool:
    function = value.function if isinstance(value, Bound) else value
    return _returns_argument(function.node)


def define_class(interp: Interpreter, stmt: ast.ClassDef) -> Value:
    """Return the value of a ``class``."""
    activation = interp.activation
    assert activation is not None
    bases = tuple(interp.evaluate(base) for base in stmt.bases)
    env = interp.new_env()
    decorators = {text_of(d.func if isinstance(d, ast.Call) else d).split(".")[-1] for d in stmt.decorator_list}
    cls = ClassValue(
        stmt,
        activation.module,
        bases,
        env,
        dataclass=bool(decorators & {"dataclass", "define", "frozen", "attrs", "s"}),
    )
    with interp.within(
        Activation(env, activation.module, activation.function and _class_body_function(activation), parent=activation)
    ):
        for inner in stmt.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                value = define_function(interp, inner)
                if isinstance(value, Function):
                    value = replace(value, owner=cls)
                existing = interp.now.lookup(env, inner.name)
                if isinstance(value, Function) and value.kind == "setter" and isinstance(existing, Function):
                    interp.now.bind(env, f"{inner.name}.setter", value)
                else:
                    interp.now.bind(env, inner.name, value)
            else:
                interp.execute([inner])
                attribute_stores.note_class_attributes(interp, cls, inner)
    hook = find_member(interp, cls, "__init_subclass__", above=cls)
    if isinstance(hook, Function):
        options = {
            each.arg: interp.evaluate(each.value) for each in stmt.keywords if each.arg and each.arg != "metaclass"
        }
        interp.call(hook, [cls], options, implicit_call(stmt, "__init_subclass__"))
    for decorator in reversed(stmt.decorator_list):
        _register_class(interp, cls, decorator)
    return cls


def _register_class(interp: Interpreter, cls: ClassValue, decorator: ast.expr) -> None:
    """Call a decorator of the project, which may register the class; its result is ignored."""
    function = interp.evaluate(decorator)
    if isinstance(function, (Function, Bound)):
        interp.call(function, [cls], {}, ast.copy_location(ast.Call(decorator, [], []), decorator))


def _class_body_function(activation: Activation) -> Function | None:
    """Return the function whose names a class body and its methods can read."""
    if activation.function is None or activation.env == activation.module.env:
        return activation.function
    return replace(activation.function, scope=(*activation.function.scope, activation.env))
