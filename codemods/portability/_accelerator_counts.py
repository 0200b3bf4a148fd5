"""Numbers of accelerators in calculations: without any, a size of batches would be 0, and a division fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from codemods.portability._guards import is_guarded
from codemods.portability._torch_names import named, prints
from codemods.portability.places.indices import is_index_of_many
from devfix.model import Fix, ReplaceExpression
from devfix.syntax.tree import SourceTree, walk

__all__ = ["calculated_counts", "is_count", "spawned_counts"]

_DIVIDES = (ast.Div, ast.FloorDiv, ast.Mod)


def calculated_counts(tree: SourceTree) -> Iterator[tuple[ast.expr, Fix]]:
    """Yield the numbers of accelerators that a file multiplies or divides by, and what makes them at least 1.

    A name that only stands for the number in calculations gets the larger number, otherwise each calculation does.
    """
    if "device_count" not in tree.text:
        return
    raised = set(spawned_counts(tree)) if "nccl" in tree.text else set()
    places: dict[ast.expr, None] = {}
    for node in tree.nodes:
        if not isinstance(node, ast.expr) or not _is_factor(tree, node):
            continue
        if is_count(node, tree):
            places[node] = None
        elif (kept := _kept(tree, node)) is not None and not _is_tested_around(tree, node, ast.unparse(node)):
            uses = _uses(tree, ast.unparse(node))
            is_only_counted = all(_calculates(tree, use) or _is_indifferent(tree, use) for use in uses)
            places[kept if is_only_counted or kept in raised else node] = None
    for node in places:
        if node not in raised and not is_guarded(tree, node):
            edit = ReplaceExpression(tree.path, tree.span(node), f"max({tree.source(node)}, 1)")
            yield node, Fix("count at least one device", (edit,))


def is_count(node: ast.AST | None, tree: SourceTree) -> TypeGuard[ast.Call]:
    """Return whether an expression is ``torch.cuda.device_count()``."""
    return isinstance(node, ast.Call) and named(tree, node.func) == "torch.cuda.device_count"


def spawned_counts(tree: SourceTree) -> Iterator[ast.expr]:
    """Yield the numbers of processes that a file starts, if they are the numbers of accelerators.

    ``spawn(work, nprocs=torch.cuda.device_count())``, and ``nprocs=count`` of a name that keeps it.
    """
    for node in tree.nodes:
        if not isinstance(node, ast.Call) or named(tree, node.func) != "torch.multiprocessing.spawn":
            continue
        given = {each.arg: each.value for each in node.keywords}
        number: ast.expr | None = given.get("nprocs", node.args[2] if node.args[2:] else None)
        if number is None:
            continue
        name = ast.unparse(number)
        kept = list(_kept_counts(tree, name))
        if not kept:
            if is_count(number, tree):
                yield number
        elif len(kept) == 1 and tree.function(kept[0]) in (tree.function(node), tree.tree) and not _tests(tree, name):
            yield kept[0]  # other numbers are made of it
        elif not _is_tested_around(tree, node, name):
            yield from (each for each in walk(node) if isinstance(each, ast.expr) and ast.unparse(each) == name)


def _kept_counts(tree: SourceTree, name: str) -> Iterator[ast.Call]:
    """Yield the numbers of accelerators that a file keeps in a name."""
    for stmt in tree.nodes:
        match stmt:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if ast.unparse(target) == name and is_count(value, tree):
                    yield value


def _tests(tree: SourceTree, name: str) -> bool:
    """Return whether a file tests a number: the program may have a path for no accelerator."""
    tests = (node.test for node in tree.nodes if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)))
    return any(_names(test, name) for test in tests)


def _is_factor(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether an expression may be a number of accelerators that scales or divides another number."""
    match outer := tree.parents.get(node):
        case ast.BinOp(op=op, right=right):
            scales = isinstance(op, ast.Mult) or (isinstance(op, _DIVIDES) and right is node)
            return scales and _calculates(tree, node) and not is_index_of_many(tree, outer)
        case ast.AugAssign(op=op):
            return isinstance(op, (ast.Mult, *_DIVIDES)) and _calculates(tree, node)
    return False


def _calculates(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether a call or a name is an operand of numbers; a product that is only printed may be 0."""
    if not isinstance(node, (ast.Call, ast.Name, ast.Attribute)):
        return False
    may_be_zero = True
    match tree.parents.get(node):
        case ast.BinOp(op=op, left=left, right=right):
            may_be_zero = not isinstance(op, _DIVIDES)
            other = right if left is node else left
            is_text = isinstance(other, ast.Constant) and isinstance(other.value, str)
            if is_text or isinstance(other, (ast.List, ast.ListComp, ast.Tuple, ast.JoinedStr)):
                return False
        case ast.AugAssign(value=value) if value is node:
            pass
        case _:
            return False
    calls = [outer for outer in tree.ancestors(node) if isinstance(outer, ast.Call)]
    return not any((may_be_zero and prints(call)) or named(tree, call.func).startswith("torch.cuda.") for call in calls)


def _kept(tree: SourceTree, node: ast.expr) -> ast.Call | None:
    """Return the number of accelerators that is all that a name stands for."""
    name = ast.unparse(node)
    stored = [
        each
        for each in tree.nodes
        if isinstance(each, (ast.Name, ast.Attribute))
        and isinstance(each.ctx, (ast.Store, ast.Del))
        and ast.unparse(each) == name
    ]
    if len(stored) != 1 or any(isinstance(each, ast.arg) and each.arg == name for each in tree.nodes):
        return None
    kept = list(_kept_counts(tree, name))
    is_seen = len(kept) == 1 and (
        isinstance(node, ast.Attribute) or tree.function(kept[0]) in (tree.function(node), tree.tree)
    )
    return kept[0] if is_seen else None


def _uses(tree: SourceTree, name: str) -> list[ast.expr]:
    return [
        each
        for each in tree.nodes
        if isinstance(each, (ast.Name, ast.Attribute)) and isinstance(each.ctx, ast.Load) and ast.unparse(each) == name
    ]


def _is_indifferent(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether a comparison with a number has the same result for 0 and 1: ``count > 1``."""
    match tree.parents.get(node):
        case ast.Compare(left=left, ops=[ast.Gt() | ast.LtE()], comparators=[ast.Constant(value=int(limit))]):
            return left is node and limit >= 1
        case ast.Compare(left=left, ops=[ast.GtE() | ast.Lt()], comparators=[ast.Constant(value=int(limit))]):
            return left is node and limit >= 2
    return False


def _is_tested_around(tree: SourceTree, node: ast.AST, name: str) -> bool:
    """Return whether a condition around an expression asks for the number."""
    tests = (each.test for each in tree.ancestors(node) if isinstance(each, (ast.If, ast.IfExp, ast.While)))
    return any(_names(test, name) for test in tests)


def _names(node: ast.AST, name: str) -> bool:
    return any(ast.unparse(inner) == name for inner in walk(node) if isinstance(inner, ast.expr))
