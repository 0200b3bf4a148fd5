"""Arguments that a function hands to the host as they are: ``def plot(x): plt.plot(x.numpy())``.

A function that reads an argument on the host, without a move, is made for what is on the CPU, unless it declares that
it takes a tensor.
"""

from __future__ import annotations

import ast

from devfix.analysis.callers.arguments import UNKNOWN, Argument, Evidence, Kind
from devfix.analysis.callers.file_names import names_of
from devfix.analysis.callers.kinds import argument_kinds
from devfix.syntax.tree import SourceTree, called_name, walk

__all__ = ["is_given_argument", "is_own_argument"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_own_argument(expression: ast.expr, function: _Function, owner: ast.ClassDef | None, tree: SourceTree) -> bool:
    """Return whether an expression is made of arguments, by PyTorch alone, and none is declared to be a tensor only."""
    roots = _roots(expression, function, tree)
    kinds = argument_kinds(function, owner, tree)
    return bool(roots) and not any(_is_declared(kinds.get(name, UNKNOWN)) for name in roots or ())


def is_given_argument(expression: ast.expr, function: _Function, owner: ast.ClassDef | None, tree: SourceTree) -> bool:
    """Return whether an expression is an own argument that is passed on, and not computed from what a tensor holds.

    Lengths that a caller gives are where it needs them; those that ``tokens.ne(0).sum(1)`` counts are where the tokens
    are.
    """
    if not is_own_argument(expression, function, owner, tree):
        return False
    parts = (node for each in _made_of(expression, function) for node in walk(each))
    return not any(
        isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and called_name(node) in _COUNTS) for node in parts
    )


def _is_declared(argument: Argument) -> bool:
    is_annotated = argument.evidence is Evidence.ANNOTATION and not argument.alternatives
    return is_annotated and argument.kind is Kind.TENSOR


def _roots(expression: ast.expr, function: _Function, tree: SourceTree) -> set[str] | None:
    """Return the arguments that an expression is made of; ``None`` if it is made of anything else."""
    spec = function.args
    arguments = {each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)} - {"self", "cls"}
    imported, values = names_of(tree).imported, _values(function)
    pending: list[ast.expr] = [expression]
    seen: set[str] = set()
    while pending:
        for node in walk(pending.pop()):
            if not isinstance(node, ast.Name) or node.id in seen:
                continue
            name = node.id
            seen.add(name)
            pending += values.get(name, ())
            is_library = imported.get(name, "").partition(".")[0] in ("torch", "numpy")
            if not (name in arguments or name in values or is_library or name in _BUILTINS):
                return None
    return seen & arguments


def _made_of(expression: ast.expr, function: _Function) -> list[ast.expr]:
    """Return an expression, and those that the local names in it are bound to."""
    values, found, seen = _values(function), [expression], set[str]()
    for each in found:
        for node in walk(each):
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                found += values.get(node.id, ())
    return found


def _values(function: _Function) -> dict[str, list[ast.expr]]:
    """Return what the local names of a function are made of."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case (
                ast.For(target=ast.Name(id=name), iter=value) | ast.comprehension(target=ast.Name(id=name), iter=value)
            ):
                found.setdefault(name, []).append(value)
    return found


# Methods and functions that count what a tensor holds
_COUNTS = frozenset("sum count_nonzero ne eq gt ge lt le argmax argmin cumsum nonzero".split())
_BUILTINS = frozenset("list tuple len range enumerate zip map float int sum min max sorted reversed isinstance".split())
