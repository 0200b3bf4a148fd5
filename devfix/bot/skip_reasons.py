"""Exceptions that end the bot's work."""

from __future__ import annotations

__all__ = ["BotError", "Skipped"]


class BotError(Exception):
    """An invalid or unsafe situation; the message says what is wrong and what to do."""


class Skipped(Exception):
    """The bot is not enabled here, or a person stopped it; the message says why."""
