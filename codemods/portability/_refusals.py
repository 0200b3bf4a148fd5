"""Checks that end a program without CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._cuda_api import is_feature, without_equivalent
from codemods.portability._option_defaults import outcome_by_default
from codemods.portability._torch_names import leaves, named
from devfix.syntax.tree import SourceTree, walk

__all__ = ["can_be_deleted", "refusals"]

_PRINTS = ("print", "log", "debug", "info", "warning", "warn", "error", "critical", "write", "format")
_LOADERS = ("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
#: What stays in a port, because other devices have no equivalent, besides the table's names.
_KEPT = frozenset(
    f"torch.cuda.{name}"
    for name in "Stream ExternalStream Event current_stream default_stream stream device graph CUDAGraph "
    "get_device_properties get_device_capability mem_get_info".split()
)


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
                if name in _KEPT or name in _LOADERS or is_feature(name):
                    return True
    return False


def _is_caught(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether the file has a handler for the exception of a check."""
    raised = {"AssertionError"} if isinstance(stmt, ast.Assert) else {"SystemExit"}
    for node in walk(stmt):
        if isinstance(node, ast.Raise) and node.exc is not None:
            made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            raised = {ast.unparse(made).rpartition(".")[2]}
    handlers = (node.type for node in tree.nodes if isinstance(node, ast.ExceptHandler) and node.type is not None)
    return any(ast.unparse(each).rpartition(".")[2] in raised for kind in handlers for each in _kinds(kind))


def _kinds(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


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
    func = stmt.value.func
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in _PRINTS


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
