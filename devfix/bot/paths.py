"""Which files the bot may change: Python files and notebooks of the repository that are none of the CI's."""

from __future__ import annotations

import re

__all__ = ["refusal"]

_SUFFIXES = (".py", ".pyw", ".ipynb")
_DRIVE = re.compile(r"[A-Za-z]:")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\\\ud800-\udfff]+")


def refusal(path: str) -> str:
    """Why no patch of the bot's changes a file: it lies outside, is hidden, or is no Python; empty where one may.

    Args:
        path: relative to the repository, with slashes.

    """
    parts = path.split("/")
    inside = _PLAIN.fullmatch(path) and not path.startswith("/") and not _DRIVE.match(path)
    if not inside or any(part in ("", ".", "..") for part in parts):
        return f"{path!r} is not a path within the repository that every system can hold: it is not changed"
    if any(part.startswith(".") for part in parts):
        return f"{path!r} is hidden, or belongs to the CI: it is not changed"
    if not path.endswith(_SUFFIXES):
        return f"{path!r} is neither a Python file nor a notebook: it is not changed"
    return ""
