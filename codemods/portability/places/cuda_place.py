"""A place of a file that requires CUDA, and how it changes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from devfix.syntax.tree import SourceTree

__all__ = ["CudaPlace", "Kind", "Piece"]


class Kind:
    """How the code of a place changes."""

    MOVE = "move"  # its pieces name the declared device
    CHOICE = "choice"  # a literal becomes a choice, which needs no name
    CONDITION = "condition"  # the call is made only with CUDA
    TEST = "test"  # a test for CUDA also asks whether there is any
    CALL = "call"  # a statement is executed with CUDA only
    QUERY = "query"  # a question for CUDA becomes one for any accelerator
    FALLBACK = "fallback"  # the value is another one without CUDA
    LOAD = "load"  # what was saved on CUDA is loaded to the CPU without it
    PARAMETER = "parameter"  # the function replaces the default without CUDA


#: Part of a line of a file that changes: start and end offset, and the text for the name of the device.
Piece = tuple[tuple[int, int], tuple[int, int], Callable[[str], str]]


@dataclass(frozen=True, eq=False)
class CudaPlace:
    """A hard-coded CUDA device.

    Attributes:
        tree: the file.
        node: the expression that changes.
        kind: how it changes.
        literal: ``cuda``, with an index if the place names one; its expression in braces if it is none in figures.
        pieces: the parts of its text that change, with the name of the device or the choice.
        reason: why it is not ported.
        name: the expression of the device, if the code around the place gives one.
        otherwise: the expression without CUDA, of a fallback.
        is_certain: a condition around the place holds with an accelerator only.
        is_ambiguous: the value may be an object of the program with a method ``cuda``, or is a type of tensors, for
            which there is no other accelerator.

    """

    tree: SourceTree
    node: ast.expr
    kind: str = Kind.MOVE
    literal: str = "cuda"
    pieces: tuple[Piece, ...] = ()
    reason: str = ""
    name: str = ""
    otherwise: str = ""
    is_certain: bool = False
    is_ambiguous: bool = False
