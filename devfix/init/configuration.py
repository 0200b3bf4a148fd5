"""``[tool.devfix]`` in pyproject.toml."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from devfix.init._steps import Addition, Part, Present, Refused, read
from devfix.init._text import appended

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


def configuration(root: str, *, rules: bool = True, bot: bool = False) -> Part:
    """The tables that are wanted and not there, at the end of the file; a new file where there is none."""
    path = os.path.join(root, "pyproject.toml")
    try:
        old = read(path)
        before = _parsed(old or b"")
    except (OSError, ValueError) as error:
        return Refused(path, f"cannot be read: {error}")
    there = _inner(_inner(before, "tool"), "devfix")
    own = "devfix" in _inner(before, "tool")
    texts = [_RULES] * (rules and not own) + [_BOT] * (bot and "bot" not in there)
    if not texts:
        return Present(path, "[tool.devfix.bot]" if bot else "[tool.devfix]")
    new = old or b""
    for text in texts:
        new = appended(new, text)
    try:
        after = _parsed(new)
    except ValueError:  # a table in braces, or no table
        return Refused(path, "its table `tool` cannot be extended from the end of the file", "\n".join(texts))
    if after != _joined(before, _parsed("\n".join(texts).encode())):
        return Refused(path, "what it says would change", "\n".join(texts))
    return Addition(path, old, new)


def _parsed(raw: bytes) -> dict[str, Any]:
    document: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    return document


def _inner(table: Any, key: str) -> Any:
    """The table within a table; an empty one where there is none."""
    found = table.get(key, {}) if isinstance(table, dict) else {}
    return found if isinstance(found, dict) else {}


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two documents as one; tables of the same name are joined, too."""
    both = {key: _joined(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}
