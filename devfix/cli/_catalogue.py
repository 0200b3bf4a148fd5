"""What rules say about themselves, read from their files.

Importing one rule imports the whole analysis, three times as long as ``devfix explain`` may take; its documentation
is a docstring, and its name stands in a literal.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

__all__ = ["Card", "card_for"]


class Card(NamedTuple):
    """The words of one rule."""

    code: str
    name: str
    summary: str
    documentation: str


def card_for(word: str) -> Card | None:
    """The card of the rule with this code or name; ``None`` where no file writes it as a literal."""
    code, name = word.strip().upper(), word.strip().lower()
    for source in _rule_files():
        if f'"{code}"' in source or f'"{name}"' in source:
            card = _card(ast.parse(source))
            if card is not None and (card.code == code or card.name == name):
                return card
    return None


def _rule_files() -> Iterator[str]:
    spec = find_spec("codemods")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py") and not name.startswith("_"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield file.read()


def _card(tree: ast.Module) -> Card | None:
    """From the module's docstring and ``RULE = Rule(code="…", name="…", summary="…")``."""
    for statement in tree.body:
        if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)):
            continue
        if [ast.unparse(target) for target in statement.targets] != ["RULE"]:
            continue
        literals = {
            keyword.arg: keyword.value.value
            for keyword in statement.value.keywords
            if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
        }
        if {"code", "name", "summary"} <= literals.keys():
            documentation = ast.get_docstring(tree, clean=False) or ""
            return Card(literals["code"], literals["name"], literals["summary"], documentation)
    return None
