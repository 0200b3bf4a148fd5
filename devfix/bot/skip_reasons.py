"""Why the bot does nothing, or goes no further."""

from __future__ import annotations

__all__ = ["BotError", "LeftAlone"]


class BotError(Exception):
    """Something is wrong, or not safe: the message says what, where, and what to do."""


class LeftAlone(Exception):
    """Nobody asks for the bot here, or somebody has told it to stop: the message says who and how."""
