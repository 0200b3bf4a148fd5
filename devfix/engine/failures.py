"""Failing operations of a program, and which of them a failure before them has hidden.

Positions are those of the given texts, so that the failures of two scans can be compared.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from devfix.syntax.tree import SourceTree

__all__ = ["Failure", "comes_after", "failed_before", "is_hidden"]

_FOLLOWED = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While, ast.Try)

#: The tree of a file's given text; ``None`` if it cannot be read.
Trees = Callable[[str], "SourceTree | None"]


class Failure(NamedTuple):
    """A failing operation and the calls that lead to it.

    Attributes:
        path: the file.
        line: the operation's line.
        consumer: the operation.
        text: the value that makes it fail.
        route: file and line of each statement on the call stack, outermost first.
        is_read: the operation reads memory of the CPU, which the value has left.

    """

    path: str
    line: int
    consumer: str
    text: str
    route: tuple[tuple[str, int], ...]
    is_read: bool = False


def failed_before(failure: Failure, before: frozenset[Failure]) -> bool:
    """Return whether an operation had failed before, whatever the value."""
    operation = failure.path, failure.line, failure.consumer
    return any(operation == (other.path, other.line, other.consumer) for other in before)


def is_hidden(failure: Failure, before: frozenset[Failure], trees: Trees) -> bool:
    """Return whether an operation had failed before, or is reached only after one that had."""
    return failed_before(failure, before) or any(comes_after(failure, other, trees) for other in before)


def comes_after(failure: Failure, earlier: Failure, trees: Trees) -> bool:
    """Return whether every run executes the operation of ``earlier`` before that of ``failure``."""
    pairs = enumerate(zip(failure.route, earlier.route, strict=False))
    depth = next((number for number, (one, two) in pairs if one != two), None)
    if depth is None:
        return True  # the same statement fails
    (path, line), (earlier_path, earlier_line) = failure.route[depth], earlier.route[depth]
    tree = trees(path) if path == earlier_path else None
    if tree is None or not all(_is_certain(*place, trees) for place in earlier.route[depth + 1 :]):
        return False
    first, second = _statement(tree, earlier_line), _statement(tree, line)
    return first is not None and second is not None and _precedes(tree, first, second)


def _is_certain(path: str, line: int, trees: Trees) -> bool:
    """Return whether a call of the function executes the statement on a line of it."""
    tree = trees(path)
    statement = _statement(tree, line) if tree is not None else None
    if tree is None or statement is None:
        return False
    *_, outermost = _enclosing(tree, statement)
    return isinstance(tree.parents[outermost], (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))


def _precedes(tree: SourceTree, first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether a path through one function executes ``first`` before it reaches ``second``."""
    around = {second, *tree.ancestors(second)}
    for each in _enclosing(tree, first):
        if tree.parents[each] in around:
            _, block, index = tree.block(each)
            return any(later in around for later in block[index + 1 :])
    return False


def _enclosing(tree: SourceTree, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield a statement and those around it whose blocks are executed if they are."""
    while True:
        yield statement
        parent = tree.parents[statement]
        if not isinstance(parent, _FOLLOWED) or statement not in parent.body:
            return
        statement = parent


def _statement(tree: SourceTree, line: int) -> ast.stmt | None:
    """Return the statement that begins on a line, the first of several."""
    return next((node for node in tree.nodes if isinstance(node, ast.stmt) and node.lineno == line), None)
