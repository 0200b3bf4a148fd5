"""The documentation of rules, parsed from their source files.

Importing a rule imports the whole analysis, which takes three times as long as ``devfix explain`` may take.  Parsing is
enough: the documentation is a docstring, and the code, name and summary are literals.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from devfix.rules.builtin import rule_files
from devfix.rules.rule import DEFAULT_ERROR_FAMILIES

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

__all__ = ["RuleDocs", "complete_rules", "rule_docs"]


class RuleDocs(NamedTuple):
    """Code, name, summary and documentation of one rule."""

    code: str
    name: str
    summary: str
    documentation: str
    error_families: tuple[str, ...]


def rule_docs(word: str) -> RuleDocs | None:
    """Return the documentation of the rule with this code or name, or ``None`` if no built-in rule file defines it."""
    code, name = word.strip().upper(), word.strip().lower()
    for source in _sources():
        if f'"{code}"' in source or f'"{name}"' in source:
            docs = _parsed_docs(ast.parse(source))
            if docs is not None and (docs.code == code or docs.name == name):
                return docs
    return None


def complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return shell completions for a code or name; for a comma-separated list, complete its last item."""
    from click.shell_completion import CompletionItem

    prefix, comma, last = incomplete.rpartition(",")
    rules = sorted([*filter(None, (_parsed_docs(ast.parse(source)) for source in _sources())), *_plugin_docs()])
    words = [(word, rule.summary) for rule in rules for word in (rule.code, rule.name)]
    matches = [(word, summary) for word, summary in words if word.startswith((last, last.upper()))]
    if last.strip("0123456789").upper() == last.strip("0123456789"):  # offer names only after a lower-case letter
        matches = [(word, summary) for word, summary in matches if word.isupper()]
    return [CompletionItem(f"{prefix}{comma}{word}", help=summary) for word, summary in matches]


def _plugin_docs() -> Iterator[RuleDocs]:
    """Yield the rules of installed packages; a configuration error is ignored during completion."""
    from devfix.config import ConfigError
    from devfix.rules.plugins import installed_rules

    try:
        rules = installed_rules()
    except ConfigError:
        return
    for rule in rules:
        yield RuleDocs(rule.code, rule.name, rule.summary, rule.documentation, rule.error_families)


def _sources() -> Iterator[str]:
    return (path.read_text(encoding="utf-8") for path in rule_files())


def _parsed_docs(tree: ast.Module) -> RuleDocs | None:
    """Parse a rule file: its docstring and ``RULE = Rule(code="…", name="…", summary="…")``."""
    for statement in tree.body:
        if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)):
            continue
        if [ast.unparse(target) for target in statement.targets] != ["RULE"]:
            continue
        literals = {keyword.arg: value for keyword in statement.value.keywords if (value := _literal(keyword.value))}
        families = next((k.value for k in statement.value.keywords if k.arg == "error_families"), None)
        if {"code", "name", "summary"} <= literals.keys():
            documentation = ast.get_docstring(tree, clean=False) or ""
            ends_in = ast.literal_eval(families) if families is not None else DEFAULT_ERROR_FAMILIES
            return RuleDocs(literals["code"], literals["name"], literals["summary"], documentation, ends_in)
    return None


def _literal(node: ast.expr) -> str:
    """Return the value of a literal string; empty for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
