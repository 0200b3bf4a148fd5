"""Checkpoints of a program that requires CUDA: they were saved there, and cannot be loaded without it as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._torch_names import named
from codemods.portability.places.cuda_place import CudaPlace, Kind
from devfix.syntax.tree import SourceTree

__all__ = ["loads"]

_KEYWORD = ', map_location=None if torch.cuda.is_available() else "cpu"'


def loads(tree: SourceTree) -> Iterator[CudaPlace]:
    """Yield the calls of ``torch.load`` that restore tensors to the device they were saved from.

    ``map_location=None`` is the default: https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """
    for node in tree.nodes:
        if not isinstance(node, ast.Call) or named(tree, node.func) != "torch.load" or len(node.args) != 1:
            continue
        if any(keyword.arg in ("map_location", None) for keyword in node.keywords) or "\n" in tree.source(node):
            continue
        if tree.source(node).removesuffix(")").rstrip()[-1:] == "," or isinstance(node.args[0], ast.Starred):
            continue
        end = tree.span(node)
        at = end.end_line, end.end_column - 1
        yield CudaPlace(tree, node, Kind.LOAD, pieces=((at, at, lambda _: _KEYWORD),))
