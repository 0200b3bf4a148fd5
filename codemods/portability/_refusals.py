"""Checks that end a program without CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._cuda_api import is_feature
from codemods.portability._torch_names import leaves, named
from devfix.syntax.tree import SourceTree, walk

__all__ = ["is_dropped", "refusals"]

_NAMES = (ast.Name, ast.Attribute)


def refusals(tree: SourceTree) -> Iterator[ast.stmt]:
    """Yield the statements that end a program without CUDA: ``assert``, ``raise`` and ``sys.exit``."""
    return (node for node in tree.nodes if isinstance(node, ast.stmt) and _refuses(tree, node))


def is_dropped(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether a check can go, because the code behind it has an equivalent without CUDA."""
    return _refuses(tree, stmt) and not _needs_cuda(tree, stmt)


def _needs_cuda(tree: SourceTree, stmt: ast.stmt) -> bool:
    try:
        _, block, index = tree.block(stmt)
    except LookupError:
        return True
    later = (node for each in block[index + 1 :] for node in walk(each))
    return any(is_feature(named(tree, node)) for node in later if isinstance(node, _NAMES))


def _refuses(tree: SourceTree, stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Assert(test=test):
            return _asks(tree, test)
        case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=[*before, last], orelse=[]) if _asks(tree, test):
            is_plain = all(isinstance(each, ast.Expr) for each in before)  # it prints why
            return is_plain and leaves(last) and isinstance(last, (ast.Raise, ast.Expr))
    return False


def _asks(tree: SourceTree, test: ast.expr) -> bool:
    return isinstance(test, ast.Call) and named(tree, test.func) == "torch.cuda.is_available"
