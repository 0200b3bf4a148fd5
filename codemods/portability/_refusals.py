"""Checks that end a program without CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._cuda_api import CUDA_OBJECTS, EXTENSION_LOADERS, is_feature, without_equivalent
from codemods.portability._option_defaults import outcome_by_default
from codemods.portability._torch_names import leaves, named, prints
from devfix.syntax.tree import SourceTree, walk

__all__ = ["can_be_deleted", "refusals"]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def refusals(tree: SourceTree) -> Iterator[ast.stmt]:
    """Yield the statements that end a program without CUDA: ``assert``, ``raise`` and ``sys.exit``."""
    return (node for node in tree.nodes if isinstance(node, ast.stmt) and _refuses(tree, node))


def can_be_deleted(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether a statement is such a check that nothing relies on, in a file that can do without CUDA.

    It stays if the file catches what it raises, or has something that no other device has.
    """
    return (
        _refuses(tree, stmt)
        and not tree.derived(_has_no_equivalent)
        and not _is_caught(tree, stmt)
        and not tree.source(stmt).startswith("elif")
        and not (isinstance(stmt, ast.If) and "#" in tree.source(stmt))
    )


def _has_no_equivalent(tree: SourceTree) -> bool:
    packages = without_equivalent()[0]
    for node in tree.nodes:
        match node:
            case ast.Import(names=aliases):
                if any(alias.name.partition(".")[0] in packages for alias in aliases):
                    return True
            case ast.ImportFrom(module=str(module), level=0):
                if module.partition(".")[0] in packages:
                    return True
            case ast.Attribute() | ast.Name():
                name = named(tree, node)
                if name in CUDA_OBJECTS or name in EXTENSION_LOADERS or is_feature(name):
                    return True
    return False


def _is_caught(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether the file has a handler for the exception of a check.

    A handler for every exception counts if the program goes on after it, and its ``try`` calls what has the check.
    """
    raised = {"AssertionError"} if isinstance(stmt, ast.Assert) else {"SystemExit"}
    for node in walk(stmt):
        if isinstance(node, ast.Raise) and node.exc is not None:
            made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            raised = {ast.unparse(made).rpartition(".")[2]}
    everything = {"BaseException"} if raised <= {"SystemExit"} else {"BaseException", "Exception"}
    for node in tree.nodes:
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                kinds = _kinds(handler)
                if not kinds.isdisjoint(raised):
                    return True
                goes_on = not leaves(handler.body[-1])
                if not kinds.isdisjoint(everything) and goes_on and _calls_any(node.body, _callers(tree, stmt)):
                    return True
    return False


def _kinds(handler: ast.ExceptHandler) -> set[str]:
    """Return the names of the exceptions that a handler catches; a bare ``except`` catches ``BaseException``."""
    match handler.type:
        case None:
            return {"BaseException"}
        case ast.Tuple(elts=elts):
            return {ast.unparse(each).rpartition(".")[2] for each in elts}
        case kind:
            return {ast.unparse(kind).rpartition(".")[2]}


def _callers(tree: SourceTree, stmt: ast.stmt) -> set[str]:
    """Return the names of the functions and classes of the file that have a statement, or call what has it."""
    definitions = [node for node in tree.nodes if isinstance(node, _DEFINITIONS)]
    found = {outer.name for outer in tree.ancestors(stmt) if isinstance(outer, _DEFINITIONS)}
    while found:
        more = {each.name for each in definitions if each.name not in found and _calls_any(each.body, found)}
        if not more:
            break
        found |= more
    return found


def _calls_any(block: list[ast.stmt], names: set[str]) -> bool:
    calls = (node.func for stmt in block for node in walk(stmt) if isinstance(node, ast.Call))
    return any((func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in names for func in calls)


def _refuses(tree: SourceTree, stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Assert(test=ast.BoolOp(op=ast.Or(), values=[ast.UnaryOp(op=ast.Not(), operand=flag), test])):
            return _asks(tree, test) and outcome_by_default(tree, flag) is True
        case ast.Assert(test=test):
            return _asks(tree, test)
        case ast.If(test=test, body=[*before, last], orelse=[]):
            return _is_missing(tree, test) and all(map(_is_told, before)) and _ends(last)
    return False


def _is_missing(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a test asks if CUDA is missing, perhaps with an option or flag that asks for it by default."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=query):
            return _asks(tree, query)
        case ast.BoolOp(op=ast.And(), values=[flag, ast.UnaryOp(op=ast.Not(), operand=query)]):
            return _asks(tree, query) and outcome_by_default(tree, flag) is True
    return False


def _is_told(stmt: ast.stmt) -> bool:
    """Return whether a statement only tells why."""
    if not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return False
    return prints(stmt.value)


def _ends(stmt: ast.stmt) -> bool:
    """Return whether a statement ends the program, and does nothing else: no test is skipped, and nothing is called."""
    match stmt:
        case ast.Raise(exc=exc):
            return exc is None or "skip" not in ast.unparse(exc).lower()
        case ast.Expr(value=ast.Call(args=args)) if leaves(stmt):
            return all(isinstance(each, (ast.Constant, ast.JoinedStr, ast.UnaryOp)) for each in args)
    return False


def _asks(tree: SourceTree, test: ast.expr) -> bool:
    return isinstance(test, ast.Call) and named(tree, test.func) == "torch.cuda.is_available"
