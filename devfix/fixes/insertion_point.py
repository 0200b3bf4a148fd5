"""Insertion points: the statements and blocks around the place that an edit changes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping

from devfix.analysis.domain.classes import external_bases, mro
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import ClassValue, Pointer, Value, alternatives
from devfix.analysis.scopes import visible
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.syntax.tree import SourceTree, names_in

__all__ = [
    "all_live",
    "enclosing",
    "find_expression",
    "headers",
    "hoisted",
    "inside_module",
    "on_other_branches",
    "read_expression",
    "same_function",
]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_PLAIN_BASES = frozenset({"builtins.object", "torch.nn.Module"})  # without an attribute that a condition asks for


def all_live(point: ProgramPoint, call_frame: CallFrame, node: ast.AST) -> bool:
    """Return whether every name of an expression, and every attribute of ``self``, is there in a frame."""
    known = visible(point, call_frame)
    return all(name in known or hasattr(builtins, name) for name in names_in(node)) and all(
        _has(point, known, inner.attr)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self"
    )


def _has(point: ProgramPoint, known: Mapping[str, Value], name: str) -> bool:
    """Return whether ``self`` may have an attribute; the methods of ``nn.Module`` do not count.

    A condition of another class may read its flag ``self.cuda``, which is a method of each module.
    """
    assert point.state is not None
    for option in alternatives(known["self"]):
        obj = point.state.heap_object(option) if isinstance(option, Pointer) else None
        if not isinstance(obj, (InstanceObject, Module)) or obj.cls is None or name in obj.fields:
            continue
        if _PLAIN_BASES.issuperset(external_bases(obj.cls)):
            bases = [base for base in mro(obj.cls) if isinstance(base, ClassValue)]
            return any(point.state.lookup(base.scope, name) is not None for base in bases)
    return True


def same_function(one: CallFrame, other: CallFrame) -> bool:
    """Return whether two frames belong to the same function, in any activation."""
    return one.activation.node is other.activation.node


def inside_module(call_frame: CallFrame) -> bool:
    """Return whether a frame runs a method of an ``nn.Module``; modules do not move their own inputs."""
    function = call_frame.activation.function
    owner = function.owner if function is not None else None
    return owner is not None and any(name.startswith("torch.nn") for name in external_bases(owner))


def enclosing(tree: SourceTree, statement: ast.stmt, kinds: tuple[type[ast.AST], ...]) -> list[ast.stmt]:
    """Return the compound statements of some kinds around a statement, inside its function, nearest first."""
    found: list[ast.stmt] = []
    for parent in tree.ancestors(statement):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            break
        if isinstance(parent, kinds) and isinstance(parent, ast.stmt):
            found.append(parent)
    return found


def on_other_branches(one: ProgramPoint, two: ProgramPoint) -> bool:
    """Return whether two points of one call of a function lie in branches of a condition of which only one runs."""
    frames = one.call_frame, two.call_frame
    if frames[0].activation is not frames[1].activation:
        return False
    sides = [_sides(frame) for frame in frames]
    return any(sides[1].get(condition, side) is not side for condition, side in sides[0].items())


def _sides(frame: CallFrame) -> dict[ast.If, bool]:
    """Return which side of each condition around a frame's statement it is on; those of loops may run in turns."""
    sides: dict[ast.If, bool] = {}
    inner: ast.AST = frame.stmt
    for parent in enclosing(frame.tree, frame.stmt, (ast.stmt,)):
        if isinstance(parent, _LOOPS):
            sides.clear()
        elif isinstance(parent, ast.If):
            sides[parent] = inner in parent.body
        inner = parent
    return sides


def hoisted(tree: SourceTree, statement: ast.stmt, used: ast.stmt | None) -> ast.stmt:
    """Return the outermost loop around a statement that does not contain the use: one move after the loop is enough."""
    anchor = statement
    for loop in enclosing(tree, statement, _LOOPS):
        if used is not None and any(used is node for node in ast.walk(loop)):
            break
        anchor = loop
    return anchor


def find_expression(root: ast.AST, text: str) -> ast.expr | None:
    """Return the first expression below ``root`` whose text is ``text``."""
    for node in ast.walk(root):
        if isinstance(node, ast.expr) and ast.unparse(node) == text:
            return node
    return None


def read_expression(root: ast.AST, text: str) -> ast.expr | None:
    """Return the first expression below ``root`` whose text is ``text`` and that is not a target."""
    for node in ast.walk(root):
        written = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if isinstance(node, ast.expr) and not written and ast.unparse(node) == text:
            return node
    return None


def headers(stmt: ast.stmt) -> list[ast.AST]:
    """Return the nodes that a statement evaluates itself: the header of a compound statement, not its body."""
    if isinstance(stmt, (ast.For, ast.AsyncFor)):
        return [stmt.iter]
    if isinstance(stmt, (ast.If, ast.While)):
        return [stmt.test]
    if isinstance(stmt, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in stmt.items]
    return [stmt]
