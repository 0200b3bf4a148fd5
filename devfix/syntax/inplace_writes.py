"""What is written into: a move makes a copy, and what is written into the copy is lost.

``x.to(device)[0] += 1`` compiles, fails nowhere and counts nothing.  No rule may make such an edit, whatever it knows:
:func:`find_lost_writes` is asked of every rewrite.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.model import AppendCode
from devfix.syntax.tree import SourceTree

__all__ = ["is_written_in_place", "find_lost_writes", "find_write"]

_COPYING = (".to(", ".cuda(", ".cpu(", ".xpu(", ".detach()", ".clone(")

# Calls that fill their first argument: https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
_FILLING = frozenset(
    "all_gather_into_tensor all_reduce broadcast irecv recv reduce reduce_scatter_tensor scatter".split()
)

# Owners of functions, not of methods: ``init.normal_(weight)``, ``torch.relu_(x)``, ``F.relu_(x)``, ``normal_(weight)``
_MODULES: tuple[list[str], ...] = ([], ["init"], ["torch"], ["F"], ["functional"])

_SIMPLE = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)


def find_lost_writes(text: str, edits: Iterable[AppendCode]) -> Iterator[str]:
    """Each expression of ``text`` that is written into where it stands, and that one of ``edits`` would copy there."""
    moves = {edit.expression for edit in edits if edit.code.startswith(_COPYING)}
    if not moves:
        return
    try:
        tree = SourceTree("", text)
    except SyntaxError:  # a file that does not parse is answered for elsewhere
        return
    for node in tree.nodes:
        if isinstance(node, ast.expr) and tree.span(node) in moves and is_written_in_place(tree, node):
            yield tree.source(node)


def find_write(tree: SourceTree, stmt: ast.stmt, attribute: str) -> ast.expr | None:
    """``self.counts[label]`` in a statement that writes into it; ``None`` where one writes into no such attribute."""
    if not isinstance(stmt, _SIMPLE):
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
    """Whether what ``node`` reads is written into right here: ``node[0] += 1``, ``node.add_(1)``, ``out=node``."""
    current: ast.AST = node
    parent = tree.parents.get(current)
    while isinstance(parent, (ast.Subscript, ast.Attribute, ast.Call)) and current is _head(parent):
        if isinstance(parent, ast.Call):
            called = current.attr if isinstance(current, ast.Attribute) else ""
            if _is_in_place(called) and not _is_fresh(tree, node, parent, called):
                return True
        elif _is_filled(tree, parent):
            return True
        current, parent = parent, tree.parents.get(parent)
    if isinstance(getattr(current, "ctx", None), (ast.Store, ast.Del)):
        return current is not node or isinstance(parent, ast.AugAssign)
    return _is_filled(tree, node)


def _head(node: ast.Subscript | ast.Attribute | ast.Call) -> ast.expr:
    """What is subscripted, whose attribute is read, or what is called."""
    return node.func if isinstance(node, ast.Call) else node.value


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _is_fresh(tree: SourceTree, node: ast.expr, call: ast.Call, called: str) -> bool:
    """Whether nobody else holds what the call changes, or the result takes the place of what was there."""
    stmt = tree.parents.get(call)
    if isinstance(stmt, ast.Expr):
        return False
    if isinstance(node, ast.Call) or called == "requires_grad_":
        return True
    return isinstance(stmt, ast.Assign) and [ast.unparse(target) for target in stmt.targets] == [ast.unparse(node)]


def _is_filled(tree: SourceTree, node: ast.AST) -> bool:
    """Whether a call takes it as the place for its result."""
    parent = tree.parents.get(node)
    if isinstance(parent, ast.keyword):
        return parent.arg == "out"
    if not isinstance(parent, ast.Call) or not parent.args or parent.args[0] is not node:
        return False
    *owner, name = ast.unparse(parent.func).split(".")
    if name in _FILLING:
        return True
    return _is_in_place(name) and owner[-1:] in _MODULES and isinstance(tree.parents.get(parent), ast.Expr)
