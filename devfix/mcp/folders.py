"""The folders that a server serves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Folders", "Outside"]


class Outside(ValueError):
    """A path that is in none of the folders, or that does not exist."""


class Folders:
    """The folders that tools may read and write; links are followed before a path is compared."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = tuple(Path(os.path.realpath(root)) for root in roots)

    def find(self, path: str, *, must_exist: bool = True) -> Path:
        """Return the absolute path of a file or folder, given absolutely or relative to the first folder.

        Raises:
            Outside: the path leads out of the folders, or does not exist.

        """
        if "\0" in path or path.startswith("-"):
            raise Outside(f"{path!r} is no path")
        found = Path(os.path.realpath(self.roots[0] / path))
        if not any(found.is_relative_to(root) for root in self.roots):
            raise Outside(f"{path} is outside the served folders: {', '.join(map(str, self.roots))}")
        if must_exist and not found.exists():
            raise Outside(f"{path}: no such file or folder")
        return found

    def root_of(self, path: Path) -> Path:
        """Return the served folder that holds a path."""
        return next(root for root in self.roots if path.is_relative_to(root))

    def shown(self, path: str | Path) -> str:
        """Return a path relative to its served folder, if that is the first one."""
        found = Path(path)
        return found.relative_to(self.roots[0]).as_posix() if found.is_relative_to(self.roots[0]) else str(path)
