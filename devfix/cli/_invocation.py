"""The command line of this process, for the heads of pages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from devfix.report.head import About

__all__ = ["INVOCATION", "about", "arguments"]

INVOCATION = "devfix.invocation"  # key in ``click.Context.meta``: arguments, and the time of the start


def about(root: str | os.PathLike[str]) -> About:
    """Return the facts about the current command, which reads a repository."""
    from devfix.report.head import about_command

    given, started = _invocation()
    return about_command(given, started, root)


def arguments() -> tuple[str, ...]:
    """Return the current command line, without the program's name; empty if it is not known."""
    return _invocation()[0] or ()


def _invocation() -> tuple[tuple[str, ...] | None, float | None]:
    context = click.get_current_context(silent=True)
    found: tuple[tuple[str, ...] | None, float | None] = (None, None)
    return found if context is None else context.meta.get(INVOCATION, found)
