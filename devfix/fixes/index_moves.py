"""Moves of an index to the CPU, where the tensor that it selects from is."""

from __future__ import annotations

import ast

from devfix.analysis.observations import DeviceMismatch
from devfix.model import AppendCode, Edit

__all__ = ["index_on_cpu"]


def index_on_cpu(mismatch: DeviceMismatch) -> Edit | None:
    """Return a move of the index in ``x[index]``, read, of a tensor on the CPU; ``None`` for another operation.

    PyTorch before 1.13 did so itself: the result was on the CPU.  https://github.com/pytorch/pytorch/issues/90194
    """
    indexed, tree = mismatch.point.node, mismatch.point.tree
    if mismatch.operation != "index" or not isinstance(indexed, ast.Subscript):
        return None
    if not isinstance(indexed.ctx, ast.Load) or isinstance(indexed.slice, ast.Tuple):
        return None  # the written values are elsewhere, not the index
    return AppendCode(tree.path, tree.span(indexed.slice), ".cpu()")
