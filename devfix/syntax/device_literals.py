"""Literals that name a device."""

from __future__ import annotations

import ast
import re
from typing import TypeGuard

__all__ = ["is_cuda_literal"]

_CUDA = re.compile(r"cuda(?::\d+)?")


def is_cuda_literal(node: ast.AST | None) -> TypeGuard[ast.Constant]:
    """Return whether an expression is the name of a CUDA device: ``"cuda"``, ``"cuda:1"``."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_CUDA.fullmatch(node.value))
