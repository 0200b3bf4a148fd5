"""Chains of comparisons with strings: ``if mode == "sum": … elif mode == "mean": …`` names every mode that there is.

The path on which none of the comparisons holds is left out: callers do not pass another string, and what a name held
before the chain, often a placeholder, is not used behind it.  An ``else`` that only prints that the string is not known
changes nothing.  ``if len(gpus) == 1: … elif len(gpus) > 1: …`` names every number that a list of choices can have.
"""

from __future__ import annotations

import ast

from devfix.syntax.tree import SourceTree, text_of

__all__ = ["is_last"]


def is_last(tree: SourceTree, stmt: ast.If) -> bool:
    """Return whether ``stmt`` ends a chain that compares one value with strings, without an ``else`` that acts."""
    parent = tree.parents.get(stmt)
    if not all(map(_only_tells, stmt.orelse)) or not isinstance(parent, ast.If) or parent.orelse != [stmt]:
        return False
    subject = _subject(stmt.test)
    if subject:
        return subject == _subject(parent.test)
    one, two = _count(parent.test), _count(stmt.test)
    return bool(one[0]) and one[0] == two[0] and {one[1], two[1]} == {"one", "more"}


def _count(test: ast.expr) -> tuple[str, str]:
    """Return the text of a condition without its ``len(x) == 1`` or ``len(x) > 1``, and which of them it has."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    others = [text_of(part) for part in parts[:-1]]
    match parts[-1]:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            kind = _KINDS.get((type(op), isinstance(left, ast.Constant)), "")
            size, number = (right, left) if isinstance(left, ast.Constant) else (left, right)
            is_size = isinstance(size, ast.Call) and isinstance(size.func, ast.Name) and size.func.id == "len"
            if is_size and isinstance(number, ast.Constant) and number.value == 1:
                return " and ".join([*others, text_of(size)]), kind
    return "", ""


#: What a comparison with 1 says, by its operator and whether the number is on the left.
_KINDS: dict[tuple[type[ast.cmpop], bool], str] = {
    (ast.Eq, True): "one",
    (ast.Eq, False): "one",
    (ast.Gt, False): "more",
    (ast.Lt, True): "more",
}


def _only_tells(stmt: ast.stmt) -> bool:
    """Return whether a statement prints or logs a text."""
    match stmt:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name in _LOGS
    return False


_LOGS = frozenset("debug info warn warning error critical exception log".split())


def _subject(test: ast.expr) -> str:
    """Return the text of ``x`` in ``x == "a"`` or ``x in ("a", "b")``; empty for other conditions."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.In))):
        return ""
    known = test.comparators[0]
    elements = known.elts if isinstance(known, (ast.Tuple, ast.List, ast.Set)) else [known]
    is_text = all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in elements)
    return text_of(test.left) if is_text else ""
