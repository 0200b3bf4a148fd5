"""Files that the bot may change: Python files and notebooks, except hidden ones."""

from __future__ import annotations

import re

__all__ = ["refusal"]

_SUFFIXES = (".py", ".pyw", ".ipynb")
_DRIVE = re.compile(r"[A-Za-z]:")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\\\ud800-\udfff]+")


def refusal(path: str) -> str:
    """Return why the bot must not change a file; empty if it may.

    Args:
        path: relative to the repository, with slashes.

    """
    parts = path.split("/")
    inside = _PLAIN.fullmatch(path) and not path.startswith("/") and not _DRIVE.match(path)
    if not inside or any(part in ("", ".", "..") for part in parts):
        return f"{path!r} is not a portable path within the repository, so it is not changed"
    if any(part.startswith(".") for part in parts):
        return f"{path!r} is hidden (it may configure CI), so it is not changed"
    if not path.endswith(_SUFFIXES):
        return f"{path!r} is neither a Python file nor a notebook, so it is not changed"
    return ""
