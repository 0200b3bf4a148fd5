"""``devfix apply``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._options import selection_options

__all__ = ["command"]


@click.command("apply", short_help="Repair device bugs in files and folders.")
@selection_options
@click.option("--diff", is_flag=True, help="Print a diff on standard output; write nothing.")
@click.option("--check", is_flag=True, help="Report what would change; write nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="Also make edits that may change more than the device.")
def command(diff: bool, check: bool, **given: Any) -> None:
    """Repair device bugs in files and folders; '-' reads standard input and writes the result to standard output.

    Edits are made only in what is named here; the analysis reads what it imports in the project.
    `devfix apply . --diff | git apply` gives the same bytes as `devfix apply .`.
    """
    from devfix.cli._session import Request, run
    from devfix.report import Mode

    mode = Mode.PREVIEW if diff or check else Mode.APPLY
    click.get_current_context().exit(run(Request.of(mode, diff=diff, **given)))
