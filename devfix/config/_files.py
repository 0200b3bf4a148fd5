"""Configuration files: where they are, and their table ``[tool.devfix]``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from devfix.sources import git_root

__all__ = ["ConfigError", "inline_table", "pyprojects", "read_table"]


class ConfigError(Exception):
    """Invalid configuration: the message names the file, the key, and the valid values."""


def pyprojects(start: str) -> Iterator[str]:
    """Yield pyproject.toml files from ``start`` upward, up to the repository root."""
    last = git_root(start)
    folder = start
    while True:
        candidate = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(candidate):
            yield candidate
        parent = os.path.dirname(folder)
        if folder in (last, parent):
            return
        folder = parent


def read_table(path: str) -> dict[str, Any] | None:
    """Return ``[tool.devfix]`` of one file; ``None`` if the file has no such table.  Raises :class:`ConfigError`."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if b"devfix" not in raw:  # somebody else's file: not ours to judge
        return None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    tool = _parsed(path, text).get("tool", {})
    table = tool.get("devfix") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.devfix must be a table")
    return table


def inline_table(lines: Sequence[str]) -> dict[str, Any]:
    """Return the table of keys on the command line, such as ``severity = "latent"``; the last of a key counts.

    Raises :class:`ConfigError`.
    """
    table: dict[str, Any] = {}
    for line in lines:
        table.update(_parsed(f"--config {line!r}", line, hint="; quote strings, as in 'severity=\"latent\"'"))
    return table


def _parsed(origin: str, text: str, hint: str = "") -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{origin}: too deeply nested") from None
    except ValueError as error:  # also numbers with thousands of digits
        raise ConfigError(f"{origin}: not valid TOML: {error}{hint}") from error
    return document
