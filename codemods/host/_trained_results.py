"""Results of NumPy's functions that the program trains with: there, a copy on the CPU would cut the gradient.

``np.sum(losses)`` of tensors on the CPU adds them as objects, with their gradients, so programs that were written for
the CPU, or for an old PyTorch, use it as a loss.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.observations import HostAccess
from devfix.model import Edit, ReplaceExpression
from devfix.syntax.tree import SourceTree, names_in, walk

__all__ = ["added_in_python", "is_trained"]

_OF_TENSORS = frozenset({"backward", "cpu", "cuda", "data", "detach", "grad", "requires_grad"})


def is_trained(use: HostAccess) -> bool:
    """Return whether the function uses the result as a tensor, ``x.backward()``.

    Also if tensors with gradients are read, and ``forward`` returns what it makes of the result.
    """
    tree, call = use.point.tree, use.point.node
    if use.kind != "array" or not isinstance(call, ast.Call):
        return False
    function = tree.function(call)
    made = {call: None, **dict.fromkeys(_made_of(tree, call))}
    names = {name for node in made for name in _kept(tree, node)}
    while (
        more := {
            name
            for node in walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
            for each in (node, *_made_of(tree, node))
            for name in _kept(tree, each)
        }
        - names
    ):
        names |= more
    is_forward = isinstance(function, ast.FunctionDef) and function.name == "forward"
    returns_loss = is_forward and any(tensor.grad for tensor in use.tensors)
    for node in walk(function):
        match node:
            case ast.Attribute(attr=attribute, value=ast.Name(id=name)) if name in names and attribute in _OF_TENSORS:
                return True
            case ast.Attribute(attr=attribute, value=value) if value in made and attribute in _OF_TENSORS:
                return True
            case ast.Return(value=ast.expr() as value) if returns_loss:
                if value in made or (not isinstance(value, ast.Call) and names & set(names_in(value))):
                    return True
    return False


def _made_of(tree: SourceTree, node: ast.AST) -> Iterator[ast.expr]:
    """Yield the sums, products and so on around an expression."""
    outer = tree.parents.get(node)
    while isinstance(outer, (ast.BinOp, ast.UnaryOp)):
        yield outer
        outer = tree.parents.get(outer)


def _kept(tree: SourceTree, node: ast.AST) -> Iterator[str]:
    """Yield the names that an assignment binds to an expression."""
    match tree.parents.get(node):
        case ast.Assign(targets=targets, value=value) if value is node:
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AugAssign(target=ast.Name(id=name), value=value) if value is node:
            yield name


def added_in_python(use: HostAccess) -> Edit | None:
    """Return the edit of ``np.sum(losses)`` to ``sum(losses)``, which adds tensors on any device, with gradients."""
    tree, call = use.point.tree, use.point.node
    match call:
        case ast.Call(func=ast.expr() as func, args=[ast.Name() | ast.Attribute()], keywords=[]):
            is_sum = use.operation.rpartition(".")[2] == "sum"
            return ReplaceExpression(tree.path, tree.span(func), "sum") if is_sum else None
    return None
