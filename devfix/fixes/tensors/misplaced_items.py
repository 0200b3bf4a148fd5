"""Batch items that stay on the CPU: their names, the moves of their siblings, and the edit that moves one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Tensor, alternatives
from devfix.analysis.observations import Binding, DeviceMismatch, Transfer
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import find_expression, headers, same_function
from devfix.model import AppendCode, Edit
from devfix.syntax.tree import SourceTree

__all__ = [
    "MisplacedItem",
    "PlannedEdit",
    "append_move",
    "bindings_of",
    "expression_of",
    "is_plain_access",
    "moved_siblings",
    "name_of",
]


Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MisplacedItem:
    """A batch item that stays on the CPU, with the mismatches it causes and its expression in each."""

    site_id: int
    path: Path
    mismatches: tuple[DeviceMismatch, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PlannedEdit:
    """An edit and the text that describes it in the title of a fix."""

    edit: Edit
    description: str


def name_of(observations: Observations, misplaced: MisplacedItem) -> str:
    """Return the item's first name, else the expression that uses it."""
    names = [binding.name for binding in bindings_of(observations, misplaced)]
    return names[0] if names else misplaced.texts[0]


def bindings_of(observations: Observations, misplaced: MisplacedItem) -> list[Binding]:
    """Return the bindings of the item to names, one per statement and name."""
    found: dict[tuple[object, ...], Binding] = {}
    for binding in observations.bindings:
        if binding.origin.source_id == misplaced.site_id and binding.origin.path == misplaced.path:
            found.setdefault((binding.point.key, binding.name), binding)
    return list(found.values())


def moved_siblings(observations: Observations, misplaced: MisplacedItem) -> list[Transfer]:
    """Return the moves of other values that the same function created, where the item has a name; empty for batches."""
    if observations.sources[misplaced.site_id].kind != "made":
        return []
    bindings = [binding for binding in bindings_of(observations, misplaced) if binding.kind in ("unpack", "param")]
    return [
        transfer
        for transfer in observations.transfers
        if transfer.device == "accelerator"
        and transfer.origin.kind == "made"
        and transfer.origin.site_id != misplaced.site_id
        and any(same_function(binding.point.call_frame, transfer.point.call_frame) for binding in bindings)
    ]


def is_plain_access(node: ast.expr) -> bool:
    """Whether ``.to()`` can be appended to an expression: ``batch["x"]``, ``batch.x``."""
    return isinstance(node, (ast.Subscript, ast.Attribute))


def append_move(tree: SourceTree, node: ast.expr, trailer: str, name: str) -> PlannedEdit:
    return PlannedEdit(AppendCode(tree.path, tree.span(node), trailer), f"`{name}`")


def expression_of(
    point: ProgramPoint, call_frame: CallFrame, misplaced: MisplacedItem, text: str, whole_statement: bool = False
) -> ast.expr | None:
    """Return the expression for the item in a frame's statement, or in the operation for the innermost frame."""
    innermost = call_frame is point.call_stack[-1]
    roots: list[ast.AST] = [point.node] if innermost and not whole_statement else headers(call_frame.stmt)
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
                value = value_of(point, call_frame, node)
                for option in alternatives(value) if value is not None else ():
                    if isinstance(option, Tensor) and [
                        b.path for b in option.origins if b.source_id == misplaced.site_id
                    ] == [misplaced.path]:
                        return node
    return find_expression(point.node, text) if innermost and text != "…" else None
