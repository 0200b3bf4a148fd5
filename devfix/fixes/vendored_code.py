"""Vendored code: it is analysed, and not rewritten."""

from __future__ import annotations

from pathlib import PurePath

__all__ = ["foreign_part"]

_FOLDERS = frozenset({"site-packages", "dist-packages", "third_party", "vendor", "_vendor", "external", "submodules"})


def foreign_part(path: str) -> str | None:
    """Return the folder of a path that marks vendored code; ``None`` if there is none."""
    return next((part for part in PurePath(path).parts if part in _FOLDERS), None)
