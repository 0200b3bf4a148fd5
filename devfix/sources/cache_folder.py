"""The folder for what can be computed again."""

from __future__ import annotations

import os

__all__ = ["cache_folder"]


def cache_folder() -> str:
    """Return ``DEVFIX_CACHE_DIR``, else the platform's cache folder of the user."""
    import platformdirs

    return os.environ.get("DEVFIX_CACHE_DIR") or platformdirs.user_cache_dir("devfix", appauthor=False)
