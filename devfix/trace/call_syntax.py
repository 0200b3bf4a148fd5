"""What the source of a position says: the call, its keywords, whether its result is kept."""

from __future__ import annotations

import ast

from devfix.trace.story import Copy, Position

__all__ = ["call_at", "is_attribute", "is_lost", "names_cpu", "takes_map_location"]


def call_at(position: Position | None) -> ast.Call | None:
    """The call that ran at a position; None where its source is something else, or cannot be read."""
    if position is None:
        return None
    try:
        tree = ast.parse((position.text or position.code).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def takes_map_location(call: ast.Call | None) -> bool:
    """Whether a call of ``torch.load`` says where to."""
    return call is not None and (len(call.args) > 1 or any(each.arg == "map_location" for each in call.keywords))


def names_cpu(position: Position) -> bool:
    """Whether the call asks for the CPU in so many words."""
    call = call_at(position)
    if call is None:
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cpu":
        return True
    return any(
        isinstance(node, ast.Constant) and node.value == "cpu"
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
        for node in ast.walk(given)
    )


def is_lost(copy: Copy) -> bool:
    """Whether the result of a transfer went nowhere: a bare call, or a name that was bound again."""
    try:
        statement = ast.parse(copy.chain[0].code.strip()).body[0]
    except (SyntaxError, IndexError):
        return False
    dropped = isinstance(statement, ast.Expr)
    bound_again = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and not copy.alive
    if not isinstance(statement, (ast.Expr, ast.Assign)) or not (dropped or bound_again):
        return False
    return ast.unparse(statement.value) == _normal(copy.chain[0].text)


def _normal(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text, mode="eval"))
    except SyntaxError:
        return ""


def is_attribute(name: str, of: tuple[str, ...] = ()) -> bool:
    """Whether a name is that of an attribute (of one of the objects ``of``, where given), or of what is in it."""
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
