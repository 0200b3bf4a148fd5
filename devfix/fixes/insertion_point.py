"""Where an edit goes and which words it uses: shared by the rules that move values."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from devfix.analysis.domain.classes import external_bases
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.scopes import (
    asks_for_accelerator,
    device_expressions,
    is_device,
    is_index,
    serves,
    value_of,
    visible,
)
from devfix.syntax.tree import SourceTree

__all__ = [
    "Move",
    "device_at",
    "enclosing",
    "find_expression",
    "hoisted",
    "inside_module",
    "last_move",
    "move_of",
    "names_in",
    "read_expression",
    "same_function",
    "under_if",
]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Move:
    """How the program moves things: the method, its arguments, and the flag under which it does."""

    def __init__(self, point: ProgramPoint) -> None:
        self.point = point
        call = point.node
        self.method = "to"
        self.arguments = ""
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute):
                self.method = call.func.attr
            self.arguments = ", ".join(
                [point.tree.source(argument) for argument in call.args if not _is_dtype(argument)]
                + [
                    f"{keyword.arg}={point.tree.source(keyword.value)}"
                    for keyword in call.keywords
                    if keyword.arg not in ("dtype", "memory_format", None)
                ]
            )
        self.guard = _guard(point)

    @property
    def legacy(self) -> bool:
        """Whether the program moves with ``.cuda()``."""
        return self.method == "cuda"

    def trailer(self) -> str:
        """``.to(device)`` or ``.cuda()``, in the program's own words."""
        return f".{self.method}({self.arguments})"


def _is_dtype(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and "float" in node.attr) or "dtype" in ast.unparse(node)


def _guard(point: ProgramPoint) -> ast.If | ast.IfExp | None:
    """The ``if`` in whose body alone the move stands, when it decides on nothing but the accelerator."""
    tree = point.tree
    for parent in tree.ancestors(point.node):
        if isinstance(parent, ast.IfExp):
            return parent if any(node is point.node for node in ast.walk(parent.body)) else None
        if isinstance(parent, ast.stmt):
            break
    for parent in tree.ancestors(point.stmt):
        if isinstance(parent, ast.If):
            inside = any(point.stmt is node for branch in parent.body for node in ast.walk(branch))
            return parent if inside and not parent.orelse else None
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            return None
    return None


def move_of(point: ProgramPoint | None) -> Move | None:
    """The manner of one move."""
    return Move(point) if point is not None and isinstance(point.node, ast.Call) else None


def last_move(moves: Iterable[ProgramPoint], before: int) -> Move | None:
    """The manner of the latest move ahead of a moment."""
    earlier = [point for point in moves if point.time <= before and isinstance(point.node, ast.Call)]
    return move_of(max(earlier, key=lambda point: point.time)) if earlier else None


def device_at(
    point: ProgramPoint, call_frame: CallFrame, preferred: str | None = None, like: str | None = None
) -> str | None:
    """The device expression to use at this level; ``like`` (what the program used) wins where it is live."""
    live = device_expressions(point, call_frame, preferred)
    if like is None or (preferred and preferred in live):
        return live[0] if live else None
    usable = like in live or (not live and _is_call(point, call_frame, like)) or _is_place(point, call_frame, like)
    return like if usable else live[0] if live else None


def _is_place(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    """``local_rank`` or ``CONFIG["device"]``, where it is a number or a device here, too."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    value = value_of(point, call_frame, node)
    if value is None or not (is_index(value) or is_device("device", value)):
        return False
    return serves(point, call_frame, text)


def _is_call(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    """``get_device()``, where its names are live."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(node, ast.Call) and all_live(point, call_frame, node)


def under_if(point: ProgramPoint) -> bool:
    """Whether a moment stands under an ``if`` that asks for more than the accelerator, inside its function."""
    tests = [stmt.test for stmt in enclosing(point.tree, point.stmt, (ast.If,)) if isinstance(stmt, ast.If)]
    return not all(asks_for_accelerator(test) for test in tests)


def names_in(node: ast.AST) -> set[str]:
    """The plain names that an expression reads."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def all_live(point: ProgramPoint, call_frame: CallFrame, node: ast.AST) -> bool:
    """Whether every name of an expression is bound at this level."""
    known = visible(point, call_frame)
    import builtins

    return all(name in known or hasattr(builtins, name) for name in names_in(node))


def same_function(one: CallFrame, other: CallFrame) -> bool:
    """Whether two levels stand in the same function (any activation of it)."""
    return one.activation.node is other.activation.node


def inside_module(call_frame: CallFrame) -> bool:
    """Whether a level runs a method of an ``nn.Module``: models do not move their own inputs."""
    function = call_frame.activation.function
    owner = function.owner if function is not None else None
    return owner is not None and any(name.startswith("torch.nn") for name in external_bases(owner))


def enclosing(tree: SourceTree, statement: ast.stmt, kinds: tuple[type[ast.AST], ...]) -> list[ast.stmt]:
    """The compound statements of these kinds around a statement, inside its function, nearest first."""
    found: list[ast.stmt] = []
    for parent in tree.ancestors(statement):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            break
        if isinstance(parent, kinds) and isinstance(parent, ast.stmt):
            found.append(parent)
    return found


def hoisted(tree: SourceTree, statement: ast.stmt, used: ast.stmt | None) -> ast.stmt:
    """The outermost loop around a statement that the use does not share: one move after the loop is enough."""
    anchor = statement
    for loop in enclosing(tree, statement, _LOOPS):
        if used is not None and any(used is node for node in ast.walk(loop)):
            break
        anchor = loop
    return anchor


def find_expression(root: ast.AST, text: str) -> ast.expr | None:
    """The first expression below ``root`` that reads ``text``."""
    for node in ast.walk(root):
        if isinstance(node, ast.expr) and ast.unparse(node) == text:
            return node
    return None


def read_expression(root: ast.AST, text: str) -> ast.expr | None:
    """The first expression below ``root`` that is ``text`` and is not written to."""
    for node in ast.walk(root):
        written = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if isinstance(node, ast.expr) and not written and ast.unparse(node) == text:
            return node
    return None


def headers(stmt: ast.stmt) -> list[ast.AST]:
    """What a statement evaluates itself: a compound statement's header, not its body."""
    if isinstance(stmt, (ast.For, ast.AsyncFor)):
        return [stmt.iter]
    if isinstance(stmt, (ast.If, ast.While)):
        return [stmt.test]
    if isinstance(stmt, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in stmt.items]
    return [stmt]


__all__ += ["all_live", "headers"]
