"""``[tool.devfix]`` in pyproject.toml."""

from __future__ import annotations

import os
import sys
from typing import Any

from devfix.adoption._parts import Addition, Part, Present, Refused, read
from devfix.adoption._text import appended

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["configuration"]

_TABLE = """\
[tool.devfix]
severity = "error"  # "latent" and "advice" report more
exclude = []  # files to leave out, as in .gitignore
"""


def configuration(root: str) -> Part:
    """The table, at the end of the file; a new file where there is none."""
    path = os.path.join(root, "pyproject.toml")
    try:
        old = read(path)
        before = _parsed(old or b"")
    except (OSError, ValueError) as error:
        return Refused(path, f"cannot be read: {error}")
    if isinstance(before.get("tool"), dict) and "devfix" in before["tool"]:
        return Present(path, "[tool.devfix]")
    new = appended(old or b"", _TABLE)
    try:
        after = _parsed(new)
    except ValueError:  # ``tool`` is an inline table, or none
        return Refused(path, "its table `tool` cannot be extended from the end of the file", _TABLE)
    added = after["tool"].pop("devfix")
    if not after["tool"] and "tool" not in before:
        del after["tool"]
    if after != before or added != _parsed(_TABLE.encode())["tool"]["devfix"]:
        return Refused(path, "what it says would change", _TABLE)
    return Addition(path, old, new)


def _parsed(raw: bytes) -> dict[str, Any]:
    document: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    return document
