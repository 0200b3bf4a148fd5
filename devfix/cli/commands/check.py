"""``devfix check``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._options import selection_options

__all__ = ["command"]


@click.command("check", short_help="Report device bugs without changing files.")
@selection_options
def command(**given: Any) -> None:
    """Report device bugs in files and directories without changing them (default: the current one).

    \b
    Examples:
      devfix check
      devfix check train.py models/ --select DEV1
      devfix check --since main --output-format github
      devfix check - < train.py
    """
    from devfix.cli._request import Request
    from devfix.cli._session import run
    from devfix.cli._watch import watch
    from devfix.report import Mode

    request = Request.of(Mode.CHECK, **given)
    click.get_current_context().exit(watch(request) if request.watch else run(request))
