"""The tables ``[tool.devfix]`` and ``[tool.devfix.bot]`` in pyproject.toml."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from devfix.init._steps import Addition, Present, Refused, Step, read
from devfix.init._text import append_lines

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["configuration"]

_RULES = """\
[tool.devfix]
severity = "error"  # "latent" and "advice" report more
exclude = []  # files to leave out, as in .gitignore
"""
_BOT = """\
[tool.devfix.bot]
enabled = true
"""


def configuration(root: str, *, rules: bool = True, bot: bool = False) -> Step:
    """Add the missing tables at the end of pyproject.toml; create the file if there is none.

    Args:
        root: the root of the repository.
        rules: whether to add ``[tool.devfix]``.
        bot: whether to add ``[tool.devfix.bot]``.

    """
    path = os.path.join(root, "pyproject.toml")
    try:
        old = read(path)
        before = _parse(old or b"")
    except (OSError, ValueError) as error:
        return Refused(path, f"cannot be read: {error}")
    table = _subtable(_subtable(before, "tool"), "devfix")
    has_table = "devfix" in _subtable(before, "tool")
    texts = [_RULES] * (rules and not has_table) + [_BOT] * (bot and "bot" not in table)
    if not texts:
        return Present(path, "[tool.devfix.bot]" if bot else "[tool.devfix]")
    new = old or b""
    for text in texts:
        new = append_lines(new, text)
    try:
        after = _parse(new)
    except ValueError:  # `tool` is an inline table, or not a table
        return Refused(path, "`tool` is not a standard table, so it cannot be extended", "\n".join(texts))
    if after != _merged(before, _parse("\n".join(texts).encode())):
        return Refused(path, "existing settings would change", "\n".join(texts))
    return Addition(path, old, new)


def _parse(raw: bytes) -> dict[str, Any]:
    document: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    return document


def _subtable(table: Any, key: str) -> Any:
    """Return a table within a table; an empty one if there is none."""
    found = table.get(key, {}) if isinstance(table, dict) else {}
    return found if isinstance(found, dict) else {}


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two documents, and tables of the same name; a value of another kind is replaced."""
    both = {
        key: _merged(first[key], second[key])
        for key in first.keys() & second.keys()
        if isinstance(first[key], Mapping) and isinstance(second[key], Mapping)
    }
    return {**first, **second, **both}
