"""What rules say about themselves, read from their files.

Importing one rule imports the whole analysis, three times as long as ``devfix explain`` may take; its documentation
is a docstring, and its name stands in a literal.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from devfix.rules.builtin import rule_files

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

__all__ = ["Card", "card_for", "completed"]


class Card(NamedTuple):
    """The words of one rule."""

    code: str
    name: str
    summary: str
    documentation: str


def card_for(word: str) -> Card | None:
    """The card of the rule with this code or name; ``None`` where no file writes it as a literal."""
    code, name = word.strip().upper(), word.strip().lower()
    for source in _sources():
        if f'"{code}"' in source or f'"{name}"' in source:
            card = _card(ast.parse(source))
            if card is not None and (card.code == code or card.name == name):
                return card
    return None


def completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For the shell: the codes and names that begin as what was typed; of a list with commas, the last one."""
    from click.shell_completion import CompletionItem

    ahead, comma, last = incomplete.rpartition(",")
    cards = sorted([*filter(None, (_card(ast.parse(source)) for source in _sources())), *_of_plugins()])
    words = [(word, card.summary) for card in cards for word in (card.code, card.name)]
    fitting = [(word, summary) for word, summary in words if word.startswith((last, last.upper()))]
    if last.strip("0123456789").upper() == last.strip("0123456789"):  # codes come first: names where they are begun
        fitting = [(word, summary) for word, summary in fitting if word.isupper()]
    return [CompletionItem(f"{ahead}{comma}{word}", help=summary) for word, summary in fitting]


def _of_plugins() -> Iterator[Card]:
    """The rules of installed packages; a shell is no place to tell of those that cannot be used."""
    from devfix.config import ConfigError
    from devfix.rules.plugins import installed_rules

    try:
        rules = installed_rules()
    except ConfigError:
        return
    for rule in rules:
        yield Card(rule.code, rule.name, rule.summary, rule.documentation)


def _sources() -> Iterator[str]:
    return (path.read_text(encoding="utf-8") for path in rule_files())


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
