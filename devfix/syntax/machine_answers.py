"""Names of a project that may hold what a machine answers: whether there is CUDA, and how many accelerators there are.

Names are followed by their words over all files, without scopes: ``use_cuda = torch.cuda.is_available()``,
``Trainer(gpu=use_cuda)``, ``return use_cuda``, and what is assigned under ``if use_cuda:`` or in a ``try``.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from devfix.syntax.declared_options import is_declared, option_attribute
from devfix.syntax.tree import children, walk

__all__ = ["Answers", "answers_of", "names_read"]

_QUERIES = frozenset("is_available device_count is_cuda get_device current_device is_initialized getAvailable".split())
_QUERY_TEXTS = ("nvidia-smi", "CUDA_VISIBLE_DEVICES")
_CONVERSIONS = frozenset("int bool str float len list tuple set any all max min range getattr get pop".split())
_OF_TEXTS = frozenset("split strip lower upper replace format join copy keys values items rsplit".split())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

#: Functions whose results come from outside the program.
_GIVEN = frozenset("parse_args parse_known_args Namespace getenv load safe_load loads open input".split())

#: Stand for a query, and for a constant, in the names that an expression reads.
_QUERY, _CONSTANT = "?", "!"


@dataclass(frozen=True)
class Answers:
    """The names of a project that may hold answers, and those with values of its own.

    Attributes:
        names: names, attributes, keys and parameters; functions that return an answer end in ``()``.
        constants: those that some constant reaches that is a number, a text or true: ``Trainer(use_gpu=True)``.

    """

    names: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()

    def may_decide(self, test: ast.AST) -> bool:
        """Return whether an answer may decide the outcome of a test."""
        return not self.names.isdisjoint(names_read(test) | _owners(test))


def answers_of(files: Iterable[ast.AST]) -> Answers:
    """Return what the syntax trees of all files of a project say."""
    trees = list(files)
    parameters: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for tree in trees:
        for name, node in _signatures(tree):
            arguments = (*node.args.posonlyargs, *node.args.args)
            parameters[name].add(tuple(each.arg for each in arguments if each.arg not in ("self", "cls")))
    flows: dict[str, set[str]] = defaultdict(set)  # by what is read, what is then known
    for tree in trees:
        for sources, targets in _flows(tree, frozenset(), ""):
            for source in sources:
                flows[source].update(targets)
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            for parameter, value in _passed(call, parameters):
                for source in names_read(value):
                    flows[source].add(parameter)
    unknown = (
        name for name in flows if name.endswith("()") and name[:-2] not in parameters and name[:-2] not in _GIVEN
    )
    asked = {each for name in unknown for each in flows[name] if _is_flag(each)}  # the function may ask
    return Answers(_reached(flows, {_QUERY, *asked}), _reached(flows, {_CONSTANT}))


def _reached(flows: dict[str, set[str]], seeds: set[str]) -> frozenset[str]:
    found, pending = set(seeds), list(seeds)
    while pending:
        for target in flows.get(pending.pop(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return frozenset(found)


def _signatures(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a file with the names by which they are called: a constructor has its class's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (
                (node.name, each) for each in node.body if isinstance(each, _FUNCTIONS) and each.name == "__init__"
            )
        elif isinstance(node, _FUNCTIONS):
            yield node.name, node


def _passed(call: ast.Call, parameters: dict[str, set[tuple[str, ...]]]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a call with their values."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
    for names in parameters.get(_name(call.func), ()):
        yield from zip(names, call.args, strict=False)


def _flows(node: ast.AST, tests: frozenset[str], function: str) -> Iterator[tuple[frozenset[str], set[str]]]:
    """Yield pairs of the names that are read and those that are bound to the result.

    ``tests`` are the names that the conditions around ``node`` read.
    """
    match node:
        case ast.Assign(value=value, targets=targets):
            yield names_read(value) | tests, {name for each in targets for name in _bound(each)}
        case ast.AnnAssign(value=ast.expr() as value, target=target) | ast.NamedExpr(value=value, target=target):
            yield names_read(value) | tests, set(_bound(target))
        case ast.AugAssign(value=value, target=target) | ast.For(iter=value, target=target):
            yield names_read(value) | tests, set(_bound(target))
        case ast.Return(value=ast.expr() as value):
            yield names_read(value) | tests, {f"{function}()"}
        case ast.Return():
            yield tests, {f"{function}()"}
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield names_read(value), {str(key.value)}
        case ast.Call() if is_declared(node):
            defaults = [keyword.value for keyword in node.keywords if keyword.arg == "default"]
            yield from ((names_read(value), {option_attribute(node)}) for value in defaults)
            if any(
                isinstance(each.value, ast.Constant) and each.value.value == "store_false" for each in node.keywords
            ):
                yield frozenset({_CONSTANT}), {option_attribute(node)}
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), value]):
            yield names_read(value) | tests, {name}
        case ast.ImportFrom(names=names):
            yield from ((frozenset({each.name}), {each.asname}) for each in names if each.asname)
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        function = getattr(node, "name", "")
        spec = node.args
        positional = [*spec.posonlyargs, *spec.args]
        own = zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)
        yield from ((names_read(value), {argument.arg}) for argument, value in own)
        named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        yield from ((names_read(value), {argument.arg}) for argument, value in named if value is not None)
    inner = tests
    if isinstance(node, (ast.If, ast.While)):
        inner |= names_read(node.test) - {_CONSTANT}
    elif isinstance(node, ast.Try) and any(
        _is_flag(getattr(each, "attr", "")) for stmt in node.body for each in walk(stmt)
    ):
        inner |= {_QUERY}
    for child in children(node):
        yield from _flows(child, inner, function)


def names_read(node: ast.AST) -> frozenset[str]:
    """Return the names whose values an expression passes on: names, attributes, keys, and functions that it calls."""
    match node:
        case ast.Name(id=name):
            return frozenset({name})
        case ast.Attribute(attr=name, value=value):
            return frozenset({_QUERY if name in _QUERIES else name}) | (names_read(value) & {_QUERY})
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            return frozenset({name}) | ((names_read(value) | _texts(name)) & {_QUERY})
        case ast.Subscript(value=value):
            return names_read(value)
        case ast.Constant(value=value):
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return _texts(value) if isinstance(value, str) else frozenset({_CONSTANT} if value or is_number else ())
        case ast.UnaryOp(op=ast.USub()):
            return frozenset()  # ``-1`` is no index
        case ast.Call(func=function, args=args, keywords=keywords):
            name = _name(function)
            if name in _QUERIES or any(_QUERY in names_read(each) for each in args if isinstance(each, ast.Constant)):
                return frozenset({_QUERY})
            if name in _OF_TEXTS and isinstance(function, ast.Attribute):
                return names_read(function.value).union(*map(names_read, args))
            read = {f"{name}()"}
            if name in _CONVERSIONS:
                read.update(each for argument in args for each in names_read(argument))
                read.update(str(each.value) for each in args if isinstance(each, ast.Constant))
                read.update(each for keyword in keywords for each in names_read(keyword.value))
            return frozenset(read)
        case ast.expr():
            return frozenset(name for child in children(node) for name in names_read(child))
    return frozenset()


def _texts(text: str) -> frozenset[str]:
    return frozenset({_QUERY if any(each in text for each in _QUERY_TEXTS) else _CONSTANT} if text else ())


def _owners(test: ast.AST) -> frozenset[str]:
    """Return the names of the objects whose attributes a test reads: ``device`` of ``device.type``."""
    return frozenset(
        node.value.id for node in walk(test) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )


def _bound(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(slice=ast.Constant(value=name)):
            yield str(name)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for each in elts:
                yield from _bound(each)
        case ast.Starred(value=inner):
            yield from _bound(inner)


def _is_flag(name: str) -> bool:
    return "cuda" in name.lower() or "gpu" in name.lower()


def _name(function: ast.AST) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
