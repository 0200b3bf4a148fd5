"""Reordering statements without breaking their dependencies."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from devfix.models.names import NN_MODULE_METHODS
from devfix.syntax.tree import SourceTree

__all__ = ["Reach", "common_block", "dependents", "independent", "reach", "shown"]

_MOST_DEPTH = 3
_MOST_SHOWN = 60  # characters
_ANY = "self.*"  # what a method of a class in another file may read


@dataclass
class Reach:
    """The names and attribute paths (``self.optimizer``) that a statement reads and writes."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)

    def add(self, other: Reach) -> None:
        """Add the names that another statement reads and writes."""
        self.reads |= other.reads
        self.writes |= other.writes


def _path(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _path(node.value)
        return f"{base}.{node.attr}" if base is not None else None
    return None


def reach(tree: SourceTree, statement: ast.AST, depth: int = 0) -> Reach:
    """Return the names that a statement reads and writes, also through methods of the same class."""
    found = Reach()
    bound: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute)):
            path = _path(node)
            if path is not None:
                (found.reads if isinstance(node.ctx, ast.Load) else found.writes).add(path)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            path = _path(node.value)
            if path is not None:
                found.writes.add(path)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.writes.add(node.name)
        elif isinstance(node, ast.alias):
            found.writes.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.comprehension):
            bound |= {inner.id for inner in ast.walk(node.target) if isinstance(inner, ast.Name)}
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        if isinstance(node, ast.Call) and depth < _MOST_DEPTH:
            method = _method(tree, node)
            if method is None and _is_inherited(node):
                found.reads.add(_ANY)
            if method is not None:
                inner = reach(tree, method, depth + 1)
                found.reads |= {name for name in inner.reads if name.startswith("self.")}
                found.writes |= {name for name in inner.writes if name.startswith("self.")}
    found.writes -= bound
    return found


def _method(tree: SourceTree, call: ast.Call) -> ast.FunctionDef | None:
    """Return the method that ``self.name(...)`` calls, if its class is in this file."""
    name = _called_on_self(call)
    functions = (node for node in tree.nodes if isinstance(node, ast.FunctionDef))
    return next((function for function in functions if function.name == name), None) if name else None


def _is_inherited(call: ast.Call) -> bool:
    """Return whether a call is one of a method that another file defines, and PyTorch does not."""
    name = _called_on_self(call)
    return bool(name) and name not in NN_MODULE_METHODS


def _called_on_self(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


def _touch(one: Iterable[str], two: Iterable[str]) -> bool:
    """Return whether two sets of paths overlap: a path overlaps its prefixes, except ``self`` alone."""
    other = set(two)
    for path in one:
        if path == _ANY and any(each.startswith("self.") for each in other):
            return True
        if path in other:
            return True
        parts = path.split(".")
        if any(".".join(parts[:i]) in other for i in range(1, len(parts)) if parts[0] != "self" or i > 1):
            return True
    return False


def touches(one: set[str], two: set[str]) -> bool:
    """Return whether paths of two sets overlap, in either direction."""
    return _touch(one, two) or _touch(two, one)


def common_block(tree: SourceTree, first: ast.stmt, second: ast.stmt) -> tuple[list[ast.stmt], int, int] | None:
    """Return the innermost block that contains both statements (or compound statements around them), with indices."""
    chain: dict[int, ast.stmt] = {}
    statement: ast.stmt | None = first
    while statement is not None:
        block = _block_of(tree, statement)
        if block is None:
            break
        chain[id(block)] = statement
        statement = _owner(tree, statement)
    statement = second
    while statement is not None:
        block = _block_of(tree, statement)
        if block is None:
            return None
        if id(block) in chain:
            mine = chain[id(block)]
            return block, _index(block, mine), _index(block, statement)
        statement = _owner(tree, statement)
    return None


def _index(block: Sequence[ast.stmt], statement: ast.stmt) -> int:
    return next(index for index, item in enumerate(block) if item is statement)


def _block_of(tree: SourceTree, statement: ast.stmt) -> list[ast.stmt] | None:
    try:
        return tree.block(statement)[1]
    except LookupError:
        return None


def _owner(tree: SourceTree, statement: ast.stmt) -> ast.stmt | None:
    """Return the compound statement around a statement, inside the same function."""
    parent: ast.AST | None = tree.parents.get(statement)
    while parent is not None and not isinstance(parent, ast.stmt):
        parent = tree.parents.get(parent)
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return None
    return parent


def dependents(
    tree: SourceTree, block: Sequence[ast.stmt], first: int, last: int, shared: set[str]
) -> tuple[list[ast.stmt], str]:
    """Return the statements that must move with ``block[first]`` if it moves after ``block[last]``, in order.

    ``shared`` are names that both sides may use (the model).  Return no statements, and the reason, if a statement in
    between, or ``block[last]`` itself, depends on them.
    """
    moving = [block[first]]
    moved = reach(tree, block[first])
    for statement in block[first + 1 : last + 1]:
        here = reach(tree, statement)
        needs = touches(here.reads, moved.writes) or touches(here.writes, moved.writes)
        clashes = {name for name in here.writes if name not in shared and not _under(name, shared)}
        changes = touches(clashes, moved.reads)
        if statement is block[last]:
            if needs or changes:
                return [], f"{shown(tree, statement)} uses what would have to move after it"
        elif needs or changes:
            moving.append(statement)
            moved.add(here)
    return moving, ""


def shown(tree: SourceTree, statement: ast.stmt) -> str:
    """Return a statement's first line for a title or a reason; a line number would change after an edit."""
    line = tree.line(statement.lineno)
    return f"`{line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + '…'}`"


def independent(tree: SourceTree, block: Sequence[ast.stmt], first: int, last: int, shared: set[str]) -> bool:
    """Return whether ``block[last]`` could precede everything from ``block[first]`` on."""
    own = reach(tree, block[last])
    for statement in block[first:last]:
        here = reach(tree, statement)
        written = {name for name in here.writes if name not in shared and not _under(name, shared)}
        if touches(own.reads, written) or touches(own.writes - shared, here.reads | here.writes):
            return False
    return True


def _under(name: str, shared: set[str]) -> bool:
    return any(name.startswith(f"{owner}.") for owner in shared)


__all__ += ["touches"]
