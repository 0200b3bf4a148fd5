"""Values that may be ``None``, or a number: where a program tests for ``None``, a move must not come first."""

from __future__ import annotations

import ast

from devfix.syntax.bindings import defaults
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, text_of, walk

__all__ = ["exit_without", "may_be_number", "move_code", "tests_for_none", "tests_for_tensor"]

_EXITS = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def tests_for_none(scope: ast.AST, name: str, binding: ast.AST) -> bool:
    """Return whether a function or module compares a name with ``None`` below the first line of its binding."""
    first = getattr(binding, "lineno", 0)
    return any(tested == name and line > first for tested, line in _tests(scope))


def tests_for_tensor(scope: ast.AST, name: str) -> bool:
    """Return whether a function asks if a name is a tensor, ``isinstance(x, torch.Tensor)``: it may be none."""
    return name in _asked_to_be_tensors(scope)


@node_cache(1024)
def _asked_to_be_tensors(scope: ast.AST) -> frozenset[str]:
    found = set[str]()
    for node in walk(scope):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
                found |= {name} if "Tensor" in text_of(kind) else set()
            case (
                ast.Call(func=ast.Attribute(attr="is_tensor"), args=[ast.Name(id=name)])
                | ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name(id=name), _])
            ):
                found.add(name)
    return frozenset(found)


def may_be_number(scope: ast.AST, name: str) -> bool:
    """Return whether a name is a parameter whose default is a number or a string, which callers may leave out."""
    spec = getattr(scope, "args", None)
    given = defaults(spec) if isinstance(spec, ast.arguments) else {}
    found = next((value for parameter, value in given.items() if parameter.arg == name), None)
    found = found.operand if isinstance(found, ast.UnaryOp) else found
    return isinstance(found, ast.Constant) and found.value is not None


def move_code(scope: ast.AST, name: str, trailer: str, statement: ast.stmt) -> str:
    """Return the move of a name after a statement: ``x = x.to(device)``, under a test if it may be ``None``."""
    code = f"{name} = {name}{trailer}"
    return f"if {name} is not None:\n    {code}" if tests_for_none(scope, name, statement) else code


def exit_without(tree: SourceTree, binding: ast.stmt, name: str) -> ast.If | None:
    """Return the test that follows a binding and leaves without a value: ``if x is None: continue``."""
    parent = tree.parents.get(binding)
    for body in (getattr(parent, field, None) for field in ("body", "orelse", "finalbody")):
        if not isinstance(body, list) or binding not in body[:-1]:
            continue
        following = body[body.index(binding) + 1]
        if isinstance(following, ast.If) and not following.orelse and isinstance(following.body[-1], _EXITS):
            return following if _tested(following.test, ast.Is) == name else None
    return None


@node_cache(1024)
def _tests(scope: ast.AST) -> tuple[tuple[str, int], ...]:
    """Return the names that are compared with ``None``, and the lines."""
    tested = ((_tested(node, ast.Is, ast.IsNot, ast.Eq, ast.NotEq), getattr(node, "lineno", 0)) for node in walk(scope))
    return tuple((name, line) for name, line in tested if name is not None)


def _tested(node: ast.AST, *operators: type[ast.cmpop]) -> str | None:
    """Return the name that a comparison compares with ``None``."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
            return name if isinstance(op, operators) else None
    return None
