"""Instances of project classes: their construction, their fields, and what entering them gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import externals, is_managed, is_module_class, lineage, member
from devfix.analysis.domain.values import ANYWHERE, UNKNOWN, Bound, ClassValue, Function, Record, Ref, Value, Yields
from devfix.analysis.torch import library_modules, optimizers
from devfix.analysis.transfer.attributes import attribute
from devfix.models.index import behaviour
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["entered", "instantiate"]


_MAPPINGS = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "easydict.EasyDict", "addict.Dict"}
)


def instantiate(
    run: Interpreter, cls: ClassValue, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """An instance of a project class, with its constructor run."""
    names = externals(cls)
    if any(name.startswith("torch.optim.") and behaviour(name).startswith("optimizer") for name in names):
        base = next(name for name in names if name.startswith("torch.optim."))
        eager = behaviour(base) == "optimizer-eager" or optimizers.copies_parameters(cls)
        return optimizers.build(run, base, eager, args, keywords, node, cls)
    if is_module_class(run, cls):
        opaque = any(
            name == "?" or not name.startswith(("torch.nn.Module", "builtins", "abc", "typing")) for name in names
        )
        leaf = [name for name in names if name.startswith("torch.nn.") and behaviour(name) == "module"]
        own_weights = opaque and (
            bool(leaf and leaf[0] not in ("torch.nn.Module", "torch.nn.modules.Module")) or not leaf
        )
        managed = any(is_managed(name) for name in names)
        ref = run.new(
            Record(
                "module",
                names[0] if names else "",
                cls,
                places=frozenset({ANYWHERE if managed else run.default_place}),
                weights=own_weights and "torch.nn.modules.Module" not in names,
                born=run.site(node),
            )
        )
    else:
        ref = run.new(Record("instance", cls.node.name, cls, born=run.site(node)))
        optimizers.note_wrapper(run, cls, [*args, *keywords.values()])
    if cls.dataclass or "typing.NamedTuple" in names:
        _fill_dataclass(run, ref, cls, args, keywords)
    constructor = member(run, cls, "__init__")
    if isinstance(constructor, Function):
        run.call(Bound(constructor, ref), args, keywords, node)
    elif any(name in _MAPPINGS for name in names):
        given = run.record(args[0]).fields if args and isinstance(args[0], Ref) else {}
        run.now.update(ref, fields={**given, **{key: value for key, value in keywords.items() if key != "**"}})
    elif run.record(ref).kind == "module" and names and names[0] != "torch.nn.Module":
        library_modules.fill_module(run, ref, names[0], args, keywords, node)
    return ref


def _fill_dataclass(run: Interpreter, ref: Ref, cls: ClassValue, args: list[Value], keywords: dict[str, Value]) -> None:
    names: list[tuple[str, ast.AnnAssign, ClassValue]] = []
    for base in reversed(list(lineage(cls))):
        if isinstance(base, ClassValue):
            names.extend(
                (stmt.target.id, stmt, base)
                for stmt in base.node.body
                if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name)
            )
    given = dict(zip([name for name, _, _ in names], args, strict=False)) | keywords
    for name, stmt, base in names:
        value = given.get(name)
        if value is None:
            value = run.now.lookup(base.scope, name) or UNKNOWN
            if isinstance(stmt.value, ast.Call) and text_of(stmt.value.func).split(".")[-1] in ("field", "Field"):
                value = _field_default(run, stmt.value)
        run.now.put(ref, name, value)
    post = member(run, cls, "__post_init__")
    if isinstance(post, Function):
        call = ast.copy_location(ast.Call(ast.Name("__post_init__", ast.Load()), [], []), cls.node)
        run.call(Bound(post, ref), [], {}, call)


def _field_default(run: Interpreter, call: ast.Call) -> Value:
    for keyword in call.keywords:
        if keyword.arg == "default":
            return run.evaluate(keyword.value)
        if keyword.arg in ("default_factory", "factory"):
            return run.call(
                run.evaluate(keyword.value), [], {}, ast.copy_location(ast.Call(keyword.value, [], []), call)
            )
    return UNKNOWN


def entered(run: Interpreter, value: Value, node: ast.AST) -> Value:
    """What ``with value as x`` binds."""
    if isinstance(value, Yields):
        return value.element  # a generator under contextlib.contextmanager
    if isinstance(value, Ref) and run.record(value).cls is not None:
        enter = attribute(run, value, "__enter__", node)
        if isinstance(enter, Bound):
            return run.call(enter, [], {}, ast.copy_location(ast.Call(ast.Name("enter", ast.Load()), [], []), node))
    return value
