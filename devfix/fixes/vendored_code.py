"""Other people's code, which a program carries along: it is read, and not rewritten."""

from __future__ import annotations

from pathlib import PurePath

__all__ = ["foreign_part"]

_FOLDERS = frozenset({"site-packages", "dist-packages", "third_party", "vendor", "_vendor", "external", "submodules"})


def foreign_part(path: str) -> str | None:
    """The folder on the way to a file that says that somebody else maintains it; ``None`` for the program's own."""
    return next((part for part in PurePath(path).parts if part in _FOLDERS), None)
