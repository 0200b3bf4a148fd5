"""``devfix check``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._options import selection_options

__all__ = ["command"]


@click.command("check", short_help="Report device bugs without changing files.")
@selection_options
def command(**given: Any) -> None:
    """Report device bugs in files and directories without changing them; '-' reads standard input.

    Without PATH, the current directory is checked.
    """
    from devfix.cli._request import Request
    from devfix.cli._session import run
    from devfix.report import Mode

    click.get_current_context().exit(run(Request.of(Mode.CHECK, **given)))
