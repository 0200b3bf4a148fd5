"""``devfix diagnose``."""

from __future__ import annotations

import click

from devfix.cli._agents import AGENT, default_format

__all__ = ["command"]


@click.command("diagnose", short_help="Find the cause of a traceback or log.")
@click.argument("log", metavar="[LOG]", default="-", type=click.Path())
@click.option("--project", metavar="FOLDER", help="Folder of the program (default: the current repository or folder).")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", AGENT]),
    default=default_format(),
    show_default="text",
    help="Report format, printed to standard output.",
)
def command(log: str, project: str | None, output_format: str) -> None:
    """Find the device error in a traceback or log, its lines in the project, and the cause with its fix.

    Nothing runs. LOG is a file; without one, or with '-', standard input is read. On a terminal, what is piped is also
    shown on standard error.

    \b
    Examples:
      devfix diagnose                     paste a traceback, then press Ctrl-D
      python train.py 2>&1 | devfix diagnose
      torchrun train.py 2>&1 | tee log.txt; devfix diagnose log.txt

    Exit codes: 0 the log has no device error; 1 it has one; 2 usage error, or the log cannot be read.
    """
    from devfix.cli._diagnosing import diagnose

    click.get_current_context().exit(diagnose(log, project, output_format))
