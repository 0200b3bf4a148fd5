"""Names of a project that may hold what a machine answers: whether there is CUDA, and how many accelerators there are.

Values are followed through all files: ``use_cuda = torch.cuda.is_available()``, ``Trainer(gpu=use_cuda)``, ``return
use_cuda``, and what is assigned under ``if use_cuda:`` or in a ``try`` for CUDA.  Attributes, keys and functions are
told apart by their words only; names of functions belong to them, and flags of modules to their files.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from devfix.syntax.bindings import defaults
from devfix.syntax.declared_options import is_declared, option_attribute
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import children, walk

__all__ = ["Answers", "answers_of"]

_QUERIES = frozenset("is_available device_count is_cuda get_device current_device is_initialized getAvailable".split())
_QUERY_TEXTS = ("nvidia-smi", "CUDA_VISIBLE_DEVICES")
_CONVERSIONS = frozenset("int bool str float len list tuple set any all max min range getattr get pop".split())
_CONVERSIONS |= {"eval", "literal_eval", "str2bool", "strtobool"}  # of a text
_OF_TEXTS = frozenset("split strip lower upper replace format join copy keys values items rsplit".split())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

#: Functions whose results come from outside the program.
_GIVEN = frozenset(
    "parse_args parse_known_args Namespace getenv load safe_load loads open input exists isfile isdir listdir".split()
)

#: Stand for a query, a constant and ``False`` in the names that an expression reads.
_QUERY, _CONSTANT, _FALSE = "?", "!", "0"
_NOT = "not "  # begins the name of what an expression denies


class _Locals(NamedTuple):
    """A function, and the names that belong to it."""

    owner: str
    names: frozenset[str]

    def token(self, name: str) -> str:
        """Return what stands for a name of the function."""
        return f"{self.owner}.{name}"


#: The functions around a place, innermost first.
_Scope = tuple[_Locals, ...]
#: What is read, and what then holds it.
_Flow = tuple[frozenset[str], set[str]]


@dataclass(frozen=True)
class Answers:
    """What may hold answers, and what holds values of the program.

    Attributes:
        names: what may hold an answer: names, attributes, keys and parameters; functions end in ``()``.
        constants: what some constant reaches that is a number, a text or true: ``Trainer(use_gpu=True)``.
        falses: what ``False`` reaches: ``no_cuda`` of ``config = {"no_cuda": False}``.

    """

    names: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    falses: frozenset[str] = frozenset()

    def may_decide(self, test: ast.AST, around: Iterable[ast.AST]) -> bool:
        """Return whether an answer may decide a value; ``around`` are the nodes around it, innermost first."""
        scope = _scope(around)
        owners = (node.value for node in walk(test) if isinstance(node, ast.Attribute))
        owned = {_token(scope, owner.id) for owner in owners if isinstance(owner, ast.Name)}  # of ``device.type``
        return not self.names.isdisjoint(each.removeprefix(_NOT) for each in _read(test, scope) | owned)

    def is_given(self, value: ast.AST, around: Iterable[ast.AST], *, off: bool = False) -> bool:
        """Return whether the program gives a name, an attribute or a key a value that is true, or ``False``."""
        known = self.falses if off else self.constants
        return not known.isdisjoint(_read(value, _scope(around)) - {_CONSTANT, _FALSE})


def answers_of(files: Iterable[ast.AST], given: Iterable[str] = (), denied: Iterable[str] = ()) -> Answers:
    """Return what the syntax trees of all files of a project say.

    ``given`` are names that settings outside the files give a value that is true, ``denied`` those that are false.
    """
    trees = list(files)
    parameters: dict[str, list[tuple[_Locals, tuple[str, ...]]]] = defaultdict(list)
    for tree in trees:
        for name, node in _signatures(tree):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            names = tuple(each.arg for each in arguments if each.arg not in ("self", "cls"))
            parameters[name].append((_locals(node), names))
    flows: dict[str, set[str]] = defaultdict(set)
    written = {name for tree in trees for name in _written_from_outside(tree)}
    for tree in trees:
        own = _scope([tree])
        for sources, targets in _flows(tree, own, frozenset(), ""):
            for source in sources:
                flows[source].update(targets)
        for name in (name for each in own for name in each.names):
            flows[own[0].token(name)].add(name)  # other files import it
            if name in written:
                flows[name].add(own[0].token(name))
        for call, scope in _calls(tree, own):
            for parameter, value in _passed(call, parameters):
                for source in _read(value, scope):
                    flows[source].add(parameter)
    flows[_CONSTANT].update(given)
    flows[_FALSE].update(denied)
    unknown = (name[:-2] for name in flows if name.endswith("()"))
    outside = [name for name in unknown if not {name, name.removeprefix(_NOT)} & {*parameters, *_GIVEN}]
    asked = {each for name in outside for each in flows[f"{name}()"] if _is_flag(each)}  # the function may ask
    for name in [name for name in flows if name.startswith(_NOT)]:
        flows[name.removeprefix(_NOT)].add(name)  # an answer stays one
    answers = _reached(flows, {_QUERY, *asked})
    for name in [name for name in flows if name.startswith(_NOT)]:
        flows[name.removeprefix(_NOT)].discard(name)
    falses = _reached(flows, {_FALSE})
    constants = _reached(flows, {_CONSTANT, *(f"{_NOT}{name}" for name in falses)})
    falses = _reached(flows, {_FALSE, *(f"{_NOT}{name}" for name in constants)})
    return Answers(answers, constants, falses)


def _reached(flows: dict[str, set[str]], seeds: set[str]) -> frozenset[str]:
    found, pending = set(seeds), list(seeds)
    while pending:
        for target in flows.get(pending.pop(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return frozenset(found)


# --- functions ------------------------------------------------------------------------------------------------------
def _signatures(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a file with the names by which they are called: a constructor has its class's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, _FUNCTIONS) and each.name == "__init__":
                    yield node.name, each
        elif isinstance(node, _FUNCTIONS):
            yield node.name, node


def _calls(node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.Call, _Scope]]:
    if isinstance(node, ast.Call):
        yield node, scope
    inner = (_locals(node), *scope) if isinstance(node, (*_FUNCTIONS, ast.Lambda)) else scope
    for child in children(node):
        yield from _calls(child, inner)


def _passed(
    call: ast.Call, parameters: dict[str, list[tuple[_Locals, tuple[str, ...]]]]
) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a call with their values; a name that no function has may be an attribute."""
    for function, names in parameters.get(_name(call.func), ()):
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in names}
        given |= dict(zip(names, call.args, strict=False))
        yield from ((function.token(str(name)), value) for name, value in given.items())
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)


@node_cache(16384)
def _locals(function: ast.AST) -> _Locals:
    spec = function.args if isinstance(function, (*_FUNCTIONS, ast.Lambda)) else None
    own = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg] if spec is not None else []
    names = {each.arg for each in own if each is not None}
    others: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            others.update(node.names)
    return _Locals(f"{getattr(function, 'name', '')}:{getattr(function, 'lineno', 0)}", frozenset(names - others))


@node_cache(16384)
def _flags_of_module(module: ast.AST) -> _Locals:
    """Return the flags that a module binds; what binds them tells modules apart."""
    stmts = [stmt for stmt in _statements(module) if isinstance(stmt, (ast.Assign, ast.AnnAssign))]
    targets = [(stmt, stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]) for stmt in stmts]
    bound = [(stmt, each.id) for stmt, names in targets for each in names if isinstance(each, ast.Name)]
    flags = [(stmt, name) for stmt, name in bound if _is_flag(name)]
    return _Locals("; ".join(ast.unparse(stmt) for stmt, _ in flags), frozenset(name for _, name in flags))


def _statements(block: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those of its functions and classes aside."""
    for child in children(block):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.expr)):
            yield from _statements(child)


def _written_from_outside(tree: ast.AST) -> Iterator[str]:
    """Yield the flags that a file may write in another one: ``config.use_cuda = …`` of an imported module."""
    nodes = list(ast.walk(tree))
    imported = (each for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for each in node.names)
    modules = {(each.asname or each.name).partition(".")[0] for each in imported}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=flag, ctx=ast.Store()) if name in modules:
                yield flag
            case ast.Call(func=ast.Name(id="exec" | "globals")):
                yield from _flags_of_module(tree).names


def _scope(around: Iterable[ast.AST]) -> _Scope:
    found = []
    for node in around:
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            found.append(_locals(node))
        elif isinstance(node, ast.Module) and (flags := _flags_of_module(node)).names:
            found.append(flags)
    return tuple(found)


def _token(scope: _Scope, name: str) -> str:
    owner = next((each for each in scope if name in each.names), None)
    return owner.token(name) if owner is not None else name


# --- statements -----------------------------------------------------------------------------------------------------
def _flows(node: ast.AST, scope: _Scope, tests: frozenset[str], function: str) -> Iterator[_Flow]:
    """Yield what the code of a node reads and binds; ``tests`` are read by the conditions around it."""
    match node:
        case ast.Assign(value=value, targets=targets):
            yield _read(value, scope) | tests, {name for each in targets for name in _bound(each, scope)}
        case ast.AnnAssign(value=ast.expr() as value, target=target) | ast.NamedExpr(value=value, target=target):
            yield _read(value, scope) | tests, set(_bound(target, scope))
        case ast.AugAssign(value=value, target=target) | ast.For(iter=value, target=target):
            yield _read(value, scope) | tests, set(_bound(target, scope))
        case ast.Return(value=value):
            yield (_read(value, scope) if value is not None else frozenset()) | tests, {f"{function}()"}
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield _read(value, scope), {str(key.value)}
        case ast.Call() if is_declared(node):
            given = [keyword.value for keyword in node.keywords if keyword.arg == "default"]
            yield from ((_read(value, scope), {option_attribute(node)}) for value in given)
            actions = [each.value.value for each in node.keywords if isinstance(each.value, ast.Constant)]
            for action, default in (("store_false", _CONSTANT), ("store_true", _FALSE)):
                if action in actions and not given:
                    yield frozenset({default}), {option_attribute(node)}
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), value]):
            yield _read(value, scope) | tests, {name}
        case ast.ImportFrom(names=names):
            yield from ((frozenset({each.name}), {each.asname}) for each in names if each.asname)
    inner, around = tests, scope
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        function, own, spec = getattr(node, "name", ""), _locals(node), node.args
        yield from ((_read(value, scope), {own.token(each.arg)}) for each, value in defaults(spec).items())
        around = (own, *scope)
    elif isinstance(node, (ast.If, ast.While)):
        inner |= _read(node.test, scope) - {_CONSTANT, _FALSE}
    elif isinstance(node, ast.Try) and any(_is_flag(_name(each)) for stmt in node.body for each in walk(stmt)):
        inner |= {_QUERY}
    for child in children(node):
        yield from _flows(child, around, inner, function)


def _bound(target: ast.expr, scope: _Scope) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield _token(scope, name)
        case ast.Attribute(attr=name):
            yield name
        case ast.Subscript(slice=ast.Constant(value=name)):
            yield str(name)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for each in elts:
                yield from _bound(each, scope)
        case ast.Starred(value=inner):
            yield from _bound(inner, scope)


# --- expressions ----------------------------------------------------------------------------------------------------
def _read(node: ast.AST, scope: _Scope) -> frozenset[str]:
    """Return what an expression passes on: names, attributes, keys, and the results of functions."""
    match node:
        case ast.Name(id=name):
            return frozenset({_token(scope, name)})
        case ast.Attribute(attr=name, value=value):
            return frozenset({_QUERY if name in _QUERIES else name}) | (_read(value, scope) & {_QUERY})
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            return frozenset({name}) | ((_read(value, scope) | _texts(name)) & {_QUERY})
        case ast.Subscript(value=value):
            return _read(value, scope)
        case ast.Constant(value=value):
            if value is None or isinstance(value, bytes):
                return frozenset()
            if isinstance(value, str):
                return _texts(value)
            return frozenset({_FALSE if value is False else _CONSTANT})
        case ast.UnaryOp(op=ast.USub()):
            return frozenset()  # ``-1`` is no index
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return frozenset(each if each == _QUERY else f"{_NOT}{each}" for each in _read(operand, scope))
        case ast.Call():
            return _results(node, scope)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            bound = {name for each in node.generators for name in _bound(each.target, scope)}
            parts = (_read(each, scope) for each in children(node))
            return frozenset().union(*parts) - bound
        case ast.comprehension(iter=value, ifs=tests):
            return _read(value, scope).union(*(_read(each, scope) for each in tests))
        case ast.expr():
            return frozenset(name for child in children(node) for name in _read(child, scope))
    return frozenset()


def _results(call: ast.Call, scope: _Scope) -> frozenset[str]:
    name, args = _name(call.func), call.args
    if name in _QUERIES or any(_QUERY in _read(each, scope) for each in args if isinstance(each, ast.Constant)):
        return frozenset({_QUERY})
    if name in _OF_TEXTS and isinstance(call.func, ast.Attribute):
        return _read(call.func.value, scope).union(*(_read(each, scope) for each in args))
    if name not in _CONVERSIONS:
        return frozenset({f"{name}()"})
    values = [*args, *(keyword.value for keyword in call.keywords)]
    keys = {str(each.value) for each in args if isinstance(each, ast.Constant)}
    return frozenset(keys).union(*(_read(each, scope) for each in values))


def _texts(text: str) -> frozenset[str]:
    return frozenset({_QUERY if any(each in text for each in _QUERY_TEXTS) else _CONSTANT} if text else ())


def _is_flag(name: str) -> bool:
    return "cuda" in name.lower() or "gpu" in name.lower()


def _name(function: ast.AST) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
