"""Chains of comparisons with strings: ``if mode == "sum": … elif mode == "mean": …`` names every mode that there is.

The path on which none of the comparisons holds is left out: callers do not pass another string, and what a name held
before the chain, often a placeholder, is not used behind it.  An ``else`` that only prints that the string is not known
changes nothing.
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
    return bool(subject) and subject == _subject(parent.test)


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
