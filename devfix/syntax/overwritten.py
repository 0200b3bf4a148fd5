"""Names that a loop binds, and that none of its rounds reads before: what an earlier round left in them is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import walk

__all__ = ["overwritten_names"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@node_cache(4096)
def overwritten_names(loop: ast.For | ast.AsyncFor | ast.While, scope: ast.AST) -> frozenset[str]:
    """Return the names that a round of a loop binds, and reads only afterwards.

    Loops inside run at least once.  ``scope`` is the function or module of the loop: names that its inner functions use
    may be read at any time.
    """
    read, bound = set[str](), set[str]()
    if isinstance(loop, ast.While):
        _read([loop.test], read, bound)
    else:
        _bind([loop.target], read, bound)
    _follow(loop.body, read, bound)
    return frozenset(_bound(loop)) - read - _captured(scope)


@node_cache(1024)
def _captured(scope: ast.AST) -> frozenset[str]:
    """Return the names in the functions and classes inside a scope."""
    inner = (node for node in walk(scope) if isinstance(node, _SCOPES) and node is not scope)
    return frozenset(name for node in inner for name in _names(node))


def _names(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _bound(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))


def _follow(body: Iterable[ast.stmt], read: set[str], bound: set[str]) -> None:
    """Add to ``read`` what statements read before it is bound, and to ``bound`` what they bind on every path."""
    for stmt in body:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                _read([value], read, bound)
                _bind(targets, read, bound)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                _read([value], read, bound)
                _bind([target], read, bound)
            case ast.With(items=items, body=inner) | ast.AsyncWith(items=items, body=inner):
                for item in items:
                    _read([item.context_expr], read, bound)
                    _bind([item.optional_vars] if item.optional_vars is not None else [], read, bound)
                _follow(inner, read, bound)
            case ast.If(test=test, body=inner, orelse=orelse):
                _read([test], read, bound)
                one, two = set(bound), set(bound)
                _follow(inner, read, one)
                _follow(orelse, read, two)
                bound |= one & two
            case (
                ast.For(target=target, iter=iterable, body=inner, orelse=orelse)
                | ast.AsyncFor(target=target, iter=iterable, body=inner, orelse=orelse)
            ):
                _read([iterable], read, bound)
                _bind([target], read, bound)
                _follow(inner, read, set(bound))
                _follow(orelse, read, set(bound))
            case _:
                _read([stmt], read, bound)


def _read(nodes: Iterable[ast.AST], read: set[str], bound: set[str]) -> None:
    read.update(name for node in nodes for name in _names(node) if name not in bound)


def _bind(targets: Iterable[ast.expr], read: set[str], bound: set[str]) -> None:
    """Bind targets; the names in their attributes and subscripts are read."""
    for target in targets:
        stored = set(_bound(target))
        _read([target], read, bound | stored)
        bound |= stored
