"""Definitions: what ``def``, ``lambda`` and ``class`` make."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.location import Frame
from devfix.analysis.domain.values import Bound, ClassValue, External, Function, Partial, Value
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["define_class", "define_function", "make_function"]


def define_function(run: Interpreter, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
    """The value of a ``def``; decorators of the project are applied, others keep the function."""
    function = make_function(run, stmt)
    value: Value = function
    for decorator in reversed(stmt.decorator_list):
        value = _decorated(run, value, function, decorator)
    return value


def make_function(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
    """A function with its defaults and its scope."""
    frame = run.frame
    assert frame is not None
    outer = frame.function.scope if frame.function is not None else ()
    in_class = frame.function is None and frame.env != frame.module.env
    scope = outer if in_class or frame.env == frame.module.env else (*outer, frame.env)
    defaults = tuple(run.evaluate(default) for default in node.args.defaults)
    keyword_defaults = tuple(None if d is None else run.evaluate(d) for d in node.args.kw_defaults)
    return Function(node, frame.module, scope, defaults=defaults, keyword_defaults=keyword_defaults)


_KINDS = {"property": "property", "staticmethod": "static", "classmethod": "class", "cached_property": "property"}


def _decorated(run: Interpreter, value: Value, function: Function, decorator: ast.expr) -> Value:
    if isinstance(decorator, ast.Name) and decorator.id in _KINDS:
        return replace(function, kind=_KINDS[decorator.id])
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        return replace(function, kind=decorator.attr)
    called = run.evaluate(decorator)
    if isinstance(called, External) and called.name.endswith("cached_property"):
        return replace(function, kind="property")
    if isinstance(called, (Function, Bound)) and not _only_registers(called):
        node = ast.copy_location(ast.Call(decorator, [], []), decorator)
        result = run.call(called, [value], {}, node)
        return result if isinstance(result, (Function, Bound, Partial)) else value
    return value


@lru_cache(maxsize=1024)
def _gives_back(node: ast.AST) -> bool:
    """Whether a long decorator does nothing but look at its function and give it back."""
    returns = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    arguments = getattr(node, "args", None)
    first = arguments.args[0].arg if arguments is not None and arguments.args else ""
    long = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) > 12
    return long and bool(returns) and all(isinstance(value, ast.Name) and value.id == first for value in returns)


def _only_registers(value: Function | Bound) -> bool:
    function = value.function if isinstance(value, Bound) else value
    return _gives_back(function.node)


def define_class(run: Interpreter, stmt: ast.ClassDef) -> Value:
    """The value of a ``class``."""
    frame = run.frame
    assert frame is not None
    bases = tuple(run.evaluate(base) for base in stmt.bases)
    env = run.new_env()
    decorators = {text_of(d.func if isinstance(d, ast.Call) else d).split(".")[-1] for d in stmt.decorator_list}
    cls = ClassValue(
        stmt, frame.module, bases, env, dataclass=bool(decorators & {"dataclass", "define", "frozen", "attrs", "s"})
    )
    with run.within(Frame(env, frame.module, frame.function and _outer(frame), parent=frame)):
        for inner in stmt.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                value = define_function(run, inner)
                if isinstance(value, Function):
                    value = replace(value, owner=cls)
                existing = run.now.lookup(env, inner.name)
                if isinstance(value, Function) and value.kind == "setter" and isinstance(existing, Function):
                    run.now.bind(env, f"{inner.name}.setter", value)
                else:
                    run.now.bind(env, inner.name, value)
            else:
                run.execute([inner])
                attribute_stores.keep_class_attributes(run, cls, inner)
    for decorator in reversed(stmt.decorator_list):
        _register_class(run, cls, decorator)
    return cls


def _register_class(run: Interpreter, cls: ClassValue, decorator: ast.expr) -> None:
    """A decorator of the project puts the class into its table; whatever it gives, the class keeps its name."""
    called = run.evaluate(decorator)
    if isinstance(called, (Function, Bound)):
        run.call(called, [cls], {}, ast.copy_location(ast.Call(decorator, [], []), decorator))


def _outer(frame: Frame) -> Function | None:
    """Class bodies see the enclosing function's names, and so do their methods."""
    if frame.function is None or frame.env == frame.module.env:
        return frame.function
    return replace(frame.function, scope=(*frame.function.scope, frame.env))
