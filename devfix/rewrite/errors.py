"""The exception of the rewrite package."""

from __future__ import annotations

__all__ = ["RewriteError"]


class RewriteError(Exception):
    """An edit cannot be applied; the message is one line with the reason."""
