"""Batch items that stay on the CPU: what they are called, what moves beside them, and one edit that moves one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Tensor, alternatives
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import Binding, DeviceMismatch
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import find_expression, headers, same_function
from devfix.model import AppendCode, Edit
from devfix.syntax.tree import SourceTree

__all__ = [
    "MisplacedItem",
    "Placed",
    "appended",
    "bindings_of",
    "expression_of",
    "is_plain_access",
    "made_siblings",
    "shown",
]


Item = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MisplacedItem:
    """One batch item that stays on the CPU, with the operations in which it meets the accelerator."""

    key: int
    item: Item
    mismatches: tuple[DeviceMismatch, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Placed:
    """One edit, and the words that tell it."""

    edit: Edit
    described: str


def shown(observations: Observations, misplaced: MisplacedItem) -> str:
    """What people call the item: its first name, else the expression that uses it."""
    names = [binding.name for binding in bindings_of(observations, misplaced)]
    return names[0] if names else misplaced.texts[0]


def bindings_of(observations: Observations, misplaced: MisplacedItem) -> list[Binding]:
    """The names that the item was bound to, one for each place."""
    found: dict[tuple[object, ...], Binding] = {}
    for binding in observations.bindings:
        if (
            binding.origin.site_id == misplaced.key
            and binding.origin.path == misplaced.item
            and binding.origin.kind != "load"
        ):
            found.setdefault((binding.point.key, binding.name), binding)
    return list(found.values())


def made_siblings(observations: Observations, misplaced: MisplacedItem) -> list[Transfer]:
    """For data that a project function made: moves of what else it gave, in a function that names the culprit."""
    if observations.sources[misplaced.key].kind != "made":
        return []
    named = [binding for binding in bindings_of(observations, misplaced) if binding.kind in ("unpack", "param")]
    return [
        transfer
        for transfer in observations.transfers
        if transfer.device == "accelerator"
        and transfer.origin.kind == "made"
        and transfer.origin.site_id != misplaced.key
        and any(same_function(binding.point.call_frame, transfer.point.call_frame) for binding in named)
    ]


def is_plain_access(node: ast.expr) -> bool:
    """``batch["x"]``, ``batch.x``, ``next(it)``: an expression to which a move can be appended."""
    return isinstance(node, (ast.Subscript, ast.Attribute))


def appended(tree: SourceTree, node: ast.expr, trailer: str, name: str) -> Placed:
    return Placed(AppendCode(tree.path, tree.span(node), trailer), f"`{name}`")


def expression_of(
    point: ProgramPoint, call_frame: CallFrame, misplaced: MisplacedItem, text: str, whole_statement: bool = False
) -> ast.expr | None:
    """The expression in a level's statement (or, innermost, in the operation) that is the item."""
    innermost = call_frame is point.call_stack[-1]
    roots: list[ast.AST] = [point.node] if innermost and not whole_statement else headers(call_frame.stmt)
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
                value = value_of(point, call_frame, node)
                for option in alternatives(value) if value is not None else ():
                    if isinstance(option, Tensor) and [
                        b.path for b in option.origins if b.site_id == misplaced.key
                    ] == [misplaced.item]:
                        return node
    return find_expression(point.node, text) if innermost and text != "…" else None
