"""Copies to the CPU of values that host code reads."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Tensor
from devfix.model import AppendCode, Edit, ReplaceExpression
from devfix.syntax.tree import SourceTree

__all__ = ["as_number", "each_to_cpu", "to_cpu", "trailer"]


def trailer(tensors: Sequence[Tensor]) -> str:
    """Return ``.cpu()``, with ``.detach()`` if the tensor requires grad, which NumPy rejects."""
    return ".detach().cpu()" if any(tensor.grad for tensor in tensors) else ".cpu()"


def to_cpu(tree: SourceTree, expression: ast.expr, tensors: Sequence[Tensor]) -> Edit:
    """Return the edit from ``x`` to ``x.cpu()`` or ``x.detach().cpu()``."""
    return AppendCode(tree.path, tree.span(expression), trailer(tensors))


def as_number(tree: SourceTree, expression: ast.expr) -> Edit:
    """Return the edit from a tensor of one number to ``loss.item()``, which replaces ``.data``."""
    if isinstance(expression, ast.Attribute) and expression.attr == "data":
        return ReplaceExpression(tree.path, tree.span(expression), f"{tree.source(expression.value)}.item()")
    return AppendCode(tree.path, tree.span(expression), ".item()")


def each_to_cpu(point: ProgramPoint, expression: ast.expr, tensors: Sequence[Tensor]) -> Edit:
    """Return the edit from ``losses`` to ``[loss.item() for loss in losses]``; the list itself is unchanged."""
    text = point.tree.source(expression)
    item = _one_of(text.split(".")[-1])
    code = ".item()" if all(tensor.is_single_number for tensor in tensors) else trailer(tensors)
    return ReplaceExpression(point.tree.path, point.tree.span(expression), f"[{item}{code} for {item} in {text}]")


def _one_of(name: str) -> str:
    if not name.isidentifier():
        return "item"
    if name.endswith("sses"):
        return name[:-2]
    return name[:-1] if name.endswith("s") and len(name) > 2 else "item"
