"""Tests of options of the command line, as they come out if no option is given."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from devfix.syntax.tree import SourceTree

__all__ = ["is_option_declared", "option_attribute", "outcome_by_default"]

_DECLARES = ("add_argument", "option")
_UNKNOWN = object()
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def outcome_by_default(tree: SourceTree, test: ast.expr) -> bool | None:
    """Return how a test of options of the file comes out if none is given; ``None`` if it depends on anything else.

    A test without an option has no such outcome.
    """
    if not any(_is_option(tree, node) for node in ast.walk(test)):
        return None
    value = _value(tree, test)
    return None if value is _UNKNOWN else bool(value)


def _is_option(tree: SourceTree, node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in tree.derived(_defaults)


def _value(tree: SourceTree, node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Attribute(attr=name):
            return tree.derived(_defaults).get(name, _UNKNOWN)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = _value(tree, operand)
            return value if value is _UNKNOWN else not value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BoolOp(op=op, values=values):
            found = [_value(tree, each) for each in values]
            decides = isinstance(op, ast.Or)
            if any(each is not _UNKNOWN and bool(each) == decides for each in found):
                return decides
            return _UNKNOWN if any(each is _UNKNOWN for each in found) else not decides
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            sides = _value(tree, left), _value(tree, right)
            if any(side is _UNKNOWN for side in sides):
                return _UNKNOWN
            try:
                return _COMPARISONS[type(op)](*sides)
            except TypeError:
                return _UNKNOWN
    return _UNKNOWN


def _defaults(tree: SourceTree) -> dict[str, Any]:
    """Return the values of options that nothing else in the file assigns, by the names of their attributes."""
    found: dict[str, Any] = {}
    stored = {node.attr for node in tree.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for node in tree.nodes:
        match node:
            case ast.Call() if is_option_declared(node):
                name = option_attribute(node)
                found[name] = _default(node) if name not in found else _UNKNOWN
            case ast.Call(func=ast.Attribute(attr="set_defaults"), keywords=keywords):
                stored |= {keyword.arg for keyword in keywords if keyword.arg}
    return {name: value for name, value in found.items() if name and name not in stored and value is not _UNKNOWN}


def is_option_declared(node: ast.AST) -> bool:
    """Return whether a call declares an option: ``parser.add_argument("--gpu", type=int)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DECLARES


def option_attribute(declaration: ast.Call) -> str:
    """Return the attribute of an option: its ``dest``, or that of its first long name; empty if it is computed."""
    names = [each.value for each in declaration.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    long = [name for name in names if name.startswith("--")] or names or [""]
    dest = next((keyword.value for keyword in declaration.keywords if keyword.arg == "dest"), None)
    if dest is not None:
        return str(dest.value) if isinstance(dest, ast.Constant) else ""
    return long[0].lstrip("-").replace("-", "_")


def _default(declaration: ast.Call) -> Any:
    keywords = {keyword.arg: keyword.value for keyword in declaration.keywords}
    if "default" in keywords:
        value = _literal(keywords["default"])
        kind = keywords.get("type")
        is_kept = kind is None or (isinstance(kind, ast.Name) and kind.id == "str")
        return value if is_kept or not isinstance(value, str) else _UNKNOWN
    action = _literal(keywords["action"]) if "action" in keywords else "store"
    return {"store_true": False, "store_false": True, "store": None}.get(str(action), _UNKNOWN)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return _UNKNOWN
