"""Imported modules: definitions are evaluated on first use, other statements on import."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from devfix.analysis.domain.location import Activation
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import Const, External, ImportedName, Union, Value, alternatives, join
from devfix.analysis.transfer import attributes
from devfix.models.index import lookup
from devfix.syntax.node_caches import node_cache

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.runtime import Runtime
    from devfix.analysis.program import PythonModule

__all__ = ["evaluate_name", "name_of_library", "start", "used"]

MAX_EAGER_MODULES = 16  # decorators fill registries; in modules beyond this number, only used names are evaluated


def start(interp: Interpreter, module: PythonModule) -> None:
    """Import a module: index its statements by the names that they bind, and execute those with side effects.

    Raises ``Unreachable`` where the module requires an accelerator, and there is none.
    """
    module.env = interp.new_id()
    interp.base.envs[module.env] = {"__name__": Const(module.name)}
    module.waiting = {}
    immediate: list[ast.stmt] = []
    interp.imported_modules += 1
    eager = interp.imported_modules <= MAX_EAGER_MODULES
    moves = interp.scenario.no_accelerator and ".cuda(" in module.tree.text
    for stmt, names in _statements(module.tree.tree):
        has_effects = eager and (_registers(stmt) or (not names and not _is_inert(stmt)))
        if has_effects or (moves and _calls_cuda(stmt)):
            immediate.append(stmt)
        for name in names:
            module.waiting.setdefault(name, []).append(stmt)
    module.runtime = interp.now.runtime
    for stmt in immediate:
        if not _run(interp, module, [stmt]) and interp.scenario.no_accelerator:
            raise Unreachable


@node_cache(4096)
def _statements(tree: ast.Module) -> tuple[tuple[ast.stmt, tuple[str, ...]], ...]:
    """Return the top-level statements with the names that they bind."""
    return tuple((stmt, tuple(_bound_names(stmt))) for stmt in tree.body)


def _bound_names(stmt: ast.stmt) -> Iterator[str]:
    match stmt:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases):
            for alias in aliases:
                yield alias.asname or alias.name.split(".")[0]
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases if alias.name != "*")
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name) and _stores(node))
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            yield name
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
            for inner in ast.iter_child_nodes(stmt):
                if isinstance(inner, ast.stmt):
                    yield from _bound_names(inner)
                elif isinstance(inner, ast.ExceptHandler):
                    for part in inner.body:
                        yield from _bound_names(part)


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _registers(stmt: ast.stmt) -> bool:
    """Return whether a statement is a decorated definition, which may register itself."""
    return bool(getattr(stmt, "decorator_list", None))


@node_cache(8192)
def _calls_cuda(stmt: ast.stmt) -> bool:
    """Return whether a statement of a module calls ``.cuda()``, whatever the machine and its files."""
    return isinstance(stmt, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.With)) and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
        for node in ast.walk(stmt)
    )


def _is_inert(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Pass) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))


def evaluate_name(interp: Interpreter, module: PythonModule, name: str) -> None:
    """Execute the statements of an imported module that bind ``name``, in order."""
    assert module.waiting is not None
    waiting = module.waiting.pop(name, None)
    if waiting:
        _run(interp, module, waiting)


def name_of_library(libraries: Sequence[str], name: str) -> External | None:
    """Return what a name is that a module imports with everything else of some packages, if a stub declares it there.

    A wildcard of a stub tells nothing: the name may come from another module, which the project lacks.
    """
    if name.startswith("_") or hasattr(builtins, name):
        return None
    own = next((library for library in libraries if name in _names_of(library)), None)
    if own is not None:
        return External(f"{own}.{name}")
    models = [model for library in libraries if (model := lookup(f"{library}.{name}")) is not None]
    return next((External(model.name) for model in models if model.key == model.name), None)


_WITHOUT_EFFECTS = frozenset("collections dataclasses enum functools itertools math typing".split())


@lru_cache
def _names_of(library: str) -> frozenset[str]:
    """Return the names of a module of the standard library that does nothing when it is imported."""
    return frozenset(dir(import_module(library))) if library in _WITHOUT_EFFECTS else frozenset()


def used(interp: Interpreter, value: Value | None) -> Value | None:
    """Return a value with each name that a module has imported evaluated; ``None`` for one that is being evaluated."""
    if not isinstance(value, (ImportedName, Union)):
        return value
    options = alternatives(value)
    if not any(isinstance(option, ImportedName) for option in options):
        return value
    found = [_evaluated(interp, each) if isinstance(each, ImportedName) else each for each in options]
    known = [each for each in found if each is not None]
    return join(known) if known else None


def _evaluated(interp: Interpreter, imported: ImportedName) -> Value | None:
    module, stmt = imported.module, imported.statement
    if imported not in module.evaluated:
        module.evaluated[imported] = None  # while it is evaluated
        with _outside_path(interp, module):
            base = interp.imported(stmt.module or "", stmt.level)
            module.evaluated[imported] = attributes.imported_name(interp, base, imported.name, stmt)
    value = module.evaluated[imported]
    if value is not None:
        _bind_evaluated(interp, imported, value)
    return value


def _bind_evaluated(interp: Interpreter, imported: ImportedName, value: Value) -> None:
    """Bind the name that stands for what was imported to its value, for those who look at all names of the module."""
    env = interp.base.envs[imported.module.env]
    for alias in imported.statement.names:
        bound = env.get(alias.asname or alias.name)
        if alias.name == imported.name and bound is not None and imported in alternatives(bound):
            options = (value if option == imported else option for option in alternatives(bound))
            env[alias.asname or alias.name] = join(options)


def _run(interp: Interpreter, module: PythonModule, body: list[ast.stmt]) -> bool:
    """Execute statements of an imported module: their effects hold on every path; return whether all of them end."""
    is_through = True
    with _outside_path(interp, module) as before:
        for stmt in body:
            done = module.done
            if id(stmt) in done:
                continue
            done.add(id(stmt))
            interp.execute([stmt])
            if interp.alive:
                interp.base.absorb(interp.now)
            else:
                is_through = False
                interp.state = _outside(interp, before)
    return is_through


@contextmanager
def _outside_path(interp: Interpreter, module: PythonModule) -> Iterator[Runtime]:
    """Execute the body in the scope of an imported module, and outside the current path.

    A name is evaluated on its first use, but under the settings of PyTorch that its module was imported with, which are
    yielded.  Settings that a module changes are those of the current path.
    """
    path, loops, depth, start = interp.now, interp.loops, interp.loop_depth, interp.round_start
    before = path.runtime if module.runtime is None else module.runtime
    interp.state, interp.loop_depth, interp.round_start = _outside(interp, before), 0, 0
    try:
        with interp.within(Activation(module.env, module, parent=interp.activation)):
            yield before
            module.runtime = interp.now.runtime
            path.set_runtime(**before.changes(module.runtime))
    finally:
        interp.state, interp.loops, interp.loop_depth, interp.round_start = path, loops, depth, start


def _outside(interp: Interpreter, runtime: Runtime) -> State:
    """Return the state in which an imported module is executed: no path's names and objects, but its settings."""
    state = State(interp.base)
    state.runtime = runtime
    return state
