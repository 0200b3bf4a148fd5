"""Batch items that stay on the CPU: what they are called, what moves beside them, and one edit that moves one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.values import Tensor, options
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import Binding, Meeting
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import find_expression, headers, same_function
from devfix.model import AppendCode, Edit
from devfix.syntax.tree import SourceTree

__all__ = ["Culprit", "Placed", "appended", "bindings_of", "expression_of", "is_plain_access", "made_siblings", "shown"]


Item = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Culprit:
    """One batch item that stays on the CPU, with the operations in which it meets the accelerator."""

    key: int
    item: Item
    meetings: tuple[Meeting, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Placed:
    """One edit, and the words that tell it."""

    edit: Edit
    told: str


def shown(facts: Facts, culprit: Culprit) -> str:
    """What people call the item: its first name, else the expression that uses it."""
    names = [binding.name for binding in bindings_of(facts, culprit)]
    return names[0] if names else culprit.texts[0]


def bindings_of(facts: Facts, culprit: Culprit) -> list[Binding]:
    """The names that the item was bound to, one for each place."""
    found: dict[tuple[object, ...], Binding] = {}
    for binding in facts.bindings:
        if binding.birth.key == culprit.key and binding.birth.item == culprit.item and binding.birth.kind != "load":
            found.setdefault((binding.site.key, binding.name), binding)
    return list(found.values())


def made_siblings(facts: Facts, culprit: Culprit) -> list[Transfer]:
    """For data that a project function made: moves of what else it gave, in a function that names the culprit."""
    if facts.sources[culprit.key].kind != "made":
        return []
    named = [binding for binding in bindings_of(facts, culprit) if binding.kind in ("unpack", "param")]
    return [
        transfer
        for transfer in facts.transfers
        if transfer.place == "accelerator"
        and transfer.birth.kind == "made"
        and transfer.birth.key != culprit.key
        and any(same_function(binding.site.level, transfer.site.level) for binding in named)
    ]


def is_plain_access(node: ast.expr) -> bool:
    """``batch["x"]``, ``batch.x``, ``next(it)``: an expression to which a move can be appended."""
    return isinstance(node, (ast.Subscript, ast.Attribute))


def appended(tree: SourceTree, node: ast.expr, trailer: str, name: str) -> Placed:
    return Placed(AppendCode(tree.path, tree.span(node), trailer), f"`{name}`")


def expression_of(site: Site, level: Level, culprit: Culprit, text: str, whole: bool = False) -> ast.expr | None:
    """The expression in a level's statement (or, innermost, in the operation) that is the item."""
    innermost = level is site.levels[-1]
    roots: list[ast.AST] = [site.node] if innermost and not whole else headers(level.stmt)
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
                value = value_of(site, level, node)
                for option in options(value) if value is not None else ():
                    if isinstance(option, Tensor) and [b.item for b in option.births if b.key == culprit.key] == [
                        culprit.item
                    ]:
                        return node
    return find_expression(site.node, text) if innermost and text != "…" else None
