"""Flags: local names that keep the outcome of a type test, ``is_array = isinstance(x, np.ndarray)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import walk

__all__ = ["Flag", "meaning_of_flag"]

_TYPE_TESTS = frozenset({"isinstance", "is_tensor", "hasattr"})


@dataclass(frozen=True)
class Flag:
    """The test whose outcome a name keeps; it is outdated if what it reads is bound again after it."""

    test: ast.expr
    is_outdated: bool = False


def meaning_of_flag(function: ast.AST, name: str) -> Flag | None:
    """Return the test whose outcome a local name keeps; ``None`` if the name is bound again, or to anything else."""
    return _flags(function).get(name)


@node_cache(4096)
def _flags(function: ast.AST) -> dict[str, Flag]:
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    bound: dict[str, list[int]] = {}
    tests: dict[str, ast.expr] = {}
    for node in walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.setdefault(node.id, []).append(node.lineno)
        elif isinstance(node, ast.Assign) and _is_type_test(node.value):
            match node.targets:
                case [ast.Name(id=name)]:
                    tests[name] = node.value
    return {name: Flag(test, _is_outdated(test, bound)) for name, test in tests.items() if len(bound[name]) == 1}


def _is_type_test(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_type_test(operand)
        case ast.BoolOp(values=values):
            return all(map(_is_type_test, values))
        case ast.Compare(left=ast.Name(), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TYPE_TESTS
    return False


def _is_outdated(test: ast.expr, bound: dict[str, list[int]]) -> bool:
    """Return whether a name in a test is bound again after it."""
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return any(line > test.lineno for name in names for line in bound.get(name, ()))
