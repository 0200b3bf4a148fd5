"""Tensors of attributes moved beside their siblings, in the method with which a class moves itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods._attributes import Attribute, methods_of
from devfix.flow import Facts
from devfix.flow.syntax import SourceTree
from devfix.flow.values import ACCELERATOR, UNKNOWN, Tensor, options
from devfix.model import Edit, InsertStatement, Where

__all__ = ["moved_with_siblings"]


def moved_with_siblings(facts: Facts, attributes: list[Attribute]) -> list[Edit]:
    """``self.returns = self.returns.to(device)`` behind the last of its kind; nothing where one has no such place."""
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        edit = next(_beside(attribute), None)
        if edit is None:
            return []
        edits[edit] = None
    return list(edits)


def _beside(attribute: Attribute) -> Iterator[Edit]:
    if attribute.cls is None:
        return
    for tree, _, method in methods_of(attribute.cls):
        moves = [node for node in ast.walk(method) if isinstance(node, ast.Assign) and _moved(node) is not None]
        if any(_moved(move) == attribute.name for move in moves):
            continue
        beside = [move for move in moves if _has_arrived(attribute, _moved(move))]
        if beside:
            last = max(beside, key=lambda move: move.lineno)
            yield InsertStatement(tree.path, tree.span(last), Where.AFTER, _like(tree, last, attribute.name))


def _moved(stmt: ast.Assign) -> str | None:
    """``rewards`` of ``self.rewards = self.rewards.to(device)``."""
    match stmt:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(), attr=name) as target],
            value=ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda")),
        ) if ast.unparse(moved) == ast.unparse(target):
            return name
    return None


def _has_arrived(attribute: Attribute, sibling: str | None) -> bool:
    """Whether every object's sibling is on the accelerator when the attribute fails."""
    held = [option for record in attribute.owners for option in options(record.fields.get(sibling or "", UNKNOWN))]
    return bool(held) and all(isinstance(option, Tensor) and option.place == ACCELERATOR for option in held)


def _like(tree: SourceTree, move: ast.Assign, name: str) -> str:
    """The statement of a sibling with another name in both places."""
    text, own = tree.source(move), tree.source(move.targets[0])
    receiver = own.rpartition(".")[0]
    return text.replace(own, f"{receiver}.{name}", 2)
