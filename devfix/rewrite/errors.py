"""The one error of the rewrite."""

from __future__ import annotations

__all__ = ["RewriteError"]


class RewriteError(Exception):
    """An edit cannot be written; the message is one line that says why."""
