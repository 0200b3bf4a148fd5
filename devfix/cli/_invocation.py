"""The command line of this process, for the heads of pages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from devfix.report.head import About

__all__ = ["INVOCATION", "about"]

INVOCATION = "devfix.invocation"  # key in ``click.Context.meta``: arguments, and the time of the start


def about(root: str | os.PathLike[str]) -> About:
    """Return the facts about the current command, which reads a repository."""
    from devfix.report.head import about_command

    context = click.get_current_context(silent=True)
    arguments, started = (None, None) if context is None else context.meta.get(INVOCATION, (None, None))
    return about_command(arguments, started, root)
