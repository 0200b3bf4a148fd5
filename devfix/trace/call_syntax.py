"""Syntax of the call at a traced position: its arguments, its target, and whether its result is discarded."""

from __future__ import annotations

import ast

from devfix.trace.failure_trace import Copy, Position

__all__ = ["call_at", "has_map_location", "is_attribute", "is_discarded", "names_cpu"]


def call_at(position: Position | None) -> ast.Call | None:
    """Return the call at a position; None if its source is another expression, or does not parse."""
    if position is None:
        return None
    try:
        tree = ast.parse((position.text or position.code).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def has_map_location(call: ast.Call | None) -> bool:
    """Return whether a call of ``torch.load`` has the argument ``map_location``."""
    return call is not None and (len(call.args) > 1 or any(each.arg == "map_location" for each in call.keywords))


def names_cpu(position: Position) -> bool:
    """Return whether the call at a position names the CPU literally."""
    call = call_at(position)
    if call is None:
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cpu":
        return True
    return any(
        isinstance(node, ast.Constant) and node.value == "cpu"
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for node in ast.walk(argument)
    )


def is_discarded(copy: Copy) -> bool:
    """Return whether a transfer's result is unused: an expression statement, or a name that was rebound."""
    try:
        statement = ast.parse(copy.stack[0].code.strip()).body[0]
    except (SyntaxError, IndexError):
        return False
    dropped = isinstance(statement, ast.Expr)
    rebound = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and not copy.is_alive
    if not isinstance(statement, (ast.Expr, ast.Assign)) or not (dropped or rebound):
        return False
    return ast.unparse(statement.value) == _normalized(copy.stack[0].text)


def _normalized(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text, mode="eval"))
    except SyntaxError:
        return ""


def is_attribute(name: str, of: tuple[str, ...] = ()) -> bool:
    """Return whether an expression is an attribute or an item of one.

    Args:
        name: the expression.
        of: names that the attribute's object must begin with; default: any.

    """
    try:
        tree = ast.parse(name, mode="eval").body
    except SyntaxError:
        return False
    while isinstance(tree, ast.Subscript):
        tree = tree.value
    if not isinstance(tree, ast.Attribute):
        return False
    root: ast.expr = tree
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return not of or (isinstance(root, ast.Name) and root.id in of)
