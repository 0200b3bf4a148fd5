"""Caches that begin as a tensor of no use: ``self.grid = [torch.zeros(1)] * 3``, made anew when the shape is known.

The first use finds that the shape does not fit, so that the placeholder itself never takes part in an operation.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import CPU, Pointer, Tensor, alternatives
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["filled", "replace_everywhere"]

_SHAPE = frozenset("shape size numel nelement dim ndim".split())


def filled(interp: Interpreter, stmt: ast.If) -> list[ast.Assign]:
    """The statements with which an ``if`` that asks for the shape of a placeholder makes it anew."""
    asked = {
        text_of(node.value) for node in ast.walk(stmt.test) if isinstance(node, ast.Attribute) and node.attr in _SHAPE
    }
    return [inner for inner in stmt.body if isinstance(inner, ast.Assign) and _fills(interp, inner, asked)]


def _fills(interp: Interpreter, stmt: ast.Assign, asked: set[str]) -> bool:
    target = stmt.targets[0]
    if len(stmt.targets) > 1 or not isinstance(target, (ast.Attribute, ast.Subscript)) or text_of(target) not in asked:
        return False
    held = [
        option
        for option in alternatives(interp.evaluate(target))
        if isinstance(option, Tensor) and option.device == CPU
    ]
    return bool(held) and all(_is_placeholder(interp, tensor) for tensor in held)


def _is_placeholder(interp: Interpreter, tensor: Tensor) -> bool:
    """Whether a tensor was made with one element or none."""
    return bool(tensor.origins) and all(
        origin.kind == "made" and _has_no_size(interp.observations.sources[origin.site_id].point.node)
        for origin in tensor.origins
    )


def _has_no_size(call: ast.AST) -> bool:
    match call:
        case ast.Call(args=[] | [ast.Constant(value=0 | 1)] | [ast.List(elts=[])]):
            return True
    return False


def replace_everywhere(interp: Interpreter, statements: list[ast.Assign]) -> None:
    """``self.grid[i] = made``: each item is made so before its own first use."""
    for stmt in statements:
        target = stmt.targets[0]
        if isinstance(target, ast.Subscript) and interp.state is not None:
            made = interp.evaluate(stmt.value)
            for base in alternatives(interp.evaluate(target.value)):
                if isinstance(base, Pointer) and interp.heap_object(base).kind in ("list", "dict"):
                    fields = dict.fromkeys(interp.heap_object(base).fields, made)
                    interp.now.update(
                        base,
                        fields=fields,
                        default_item=made if interp.heap_object(base).default_item is not None else None,
                    )
