"""Which parts fit a repository, where nobody says which."""

from __future__ import annotations

import os

__all__ = ["fitting"]


def fitting(root: str) -> list[str]:
    """``configuration`` and ``hook``, as far as the repository has use for them.

    A pyproject.toml beside a setup.py that has none would change how pip builds the project; a hook needs pre-commit.
    """

    def has(*names: str) -> bool:
        return any(os.path.lexists(os.path.join(root, name)) for name in names)

    parts = []
    if has("pyproject.toml") or not has("setup.py", "setup.cfg"):
        parts.append("configuration")
    if has(".pre-commit-config.yaml"):
        parts.append("hook")
    return parts
