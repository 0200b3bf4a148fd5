"""In-place writes: a move makes a copy, and a write to the copy is lost.

``x.to(device)[0] += 1`` raises nothing and leaves ``x`` unchanged.  No rule may make such an edit;
:func:`find_lost_writes` checks every rewrite.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.model import AppendCode
from devfix.syntax.tree import SourceTree

__all__ = ["find_lost_writes", "find_write", "is_written_in_place"]

_COPYING_METHODS = (".to(", ".cuda(", ".cpu(", ".xpu(", ".detach()", ".clone(")

# Calls that write to their first argument: https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
_WRITING_FUNCTIONS = frozenset(
    "all_gather_into_tensor all_reduce broadcast irecv recv reduce reduce_scatter_tensor scatter".split()
)

# Qualifiers of those that plots and ``functools`` also have: ``plt.scatter(x, y)`` writes nothing.
_AMBIGUOUS = frozenset({"reduce", "scatter"})
_WRITING_QUALIFIERS: tuple[list[str], ...] = ([], ["dist"], ["distributed"], ["c10d"])

# Qualifiers of functions, not of methods: ``init.normal_(weight)``, ``torch.relu_(x)``, ``normal_(weight)``.
_FUNCTION_QUALIFIERS: tuple[list[str], ...] = ([], ["init"], ["torch"], ["F"], ["functional"])

_SIMPLE_STATEMENTS = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)


def find_lost_writes(text: str, edits: Iterable[AppendCode]) -> Iterator[str]:
    """Yield the source of each expression of ``text`` that is written in place and that one of ``edits`` would copy."""
    moves = {edit.expression for edit in edits if edit.code.startswith(_COPYING_METHODS)}
    if not moves:
        return
    try:
        tree = SourceTree("", text)
    except SyntaxError:  # reported when the file is scanned
        return
    for node in tree.nodes:
        if isinstance(node, ast.expr) and tree.span(node) in moves and is_written_in_place(tree, node):
            yield tree.source(node)


def find_write(tree: SourceTree, stmt: ast.stmt, attribute: str) -> ast.expr | None:
    """Return the target of an in-place write to ``attribute`` (``self.counts[label]``); ``None`` if there is none."""
    if not isinstance(stmt, _SIMPLE_STATEMENTS):
        return None
    for node in ast.walk(stmt):
        if isinstance(node, ast.Attribute) and node.attr == attribute and is_written_in_place(tree, node):
            return _with_subscripts(tree, node)
    return None


def _with_subscripts(tree: SourceTree, node: ast.expr) -> ast.expr:
    parent = tree.parents.get(node)
    while isinstance(parent, ast.Subscript) and parent.value is node:
        node, parent = parent, tree.parents.get(parent)
    return node


def is_written_in_place(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether the value of ``node`` is written in place: ``node[0] += 1``, ``node.add_(1)``, ``out=node``."""
    current: ast.AST = node
    parent = tree.parents.get(current)
    while isinstance(parent, (ast.Subscript, ast.Attribute, ast.Call)) and current is _base(parent):
        if isinstance(parent, ast.Call):
            method = current.attr if isinstance(current, ast.Attribute) else ""
            if _is_in_place(method) and not _is_unshared(tree, node, parent, method):
                return True
        elif _is_output_argument(tree, parent):
            return True
        current, parent = parent, tree.parents.get(parent)
    if isinstance(getattr(current, "ctx", None), (ast.Store, ast.Del)):
        return current is not node or isinstance(parent, ast.AugAssign)
    return _is_output_argument(tree, node)


def _base(node: ast.Subscript | ast.Attribute | ast.Call) -> ast.expr:
    """Return the subscripted, accessed or called expression."""
    return node.func if isinstance(node, ast.Call) else node.value


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _is_unshared(tree: SourceTree, node: ast.expr, call: ast.Call, method: str) -> bool:
    """Return whether the written value has no other reference, or the result is assigned back to it."""
    stmt = tree.parents.get(call)
    if isinstance(stmt, ast.Expr):
        return False
    if isinstance(node, ast.Call) or method == "requires_grad_":
        return True
    return isinstance(stmt, ast.Assign) and [ast.unparse(target) for target in stmt.targets] == [ast.unparse(node)]


def _is_output_argument(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a call writes its result to ``node``."""
    parent = tree.parents.get(node)
    if isinstance(parent, ast.keyword):
        return parent.arg == "out"
    if not isinstance(parent, ast.Call) or not parent.args or parent.args[0] is not node:
        return False
    *qualifier, name = ast.unparse(parent.func).split(".")
    if name in _WRITING_FUNCTIONS and (name not in _AMBIGUOUS or qualifier[-1:] in _WRITING_QUALIFIERS):
        return True
    return (
        _is_in_place(name) and qualifier[-1:] in _FUNCTION_QUALIFIERS and isinstance(tree.parents.get(parent), ast.Expr)
    )
