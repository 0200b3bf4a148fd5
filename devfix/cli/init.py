"""``devfix init``."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["command"]


@click.command("init", short_help="Add devfix to a repository.")
@click.argument("folder", default=".", type=click.Path(), metavar="[FOLDER]")
@click.option("--config", "configuration", is_flag=True, help="Add [tool.devfix] to pyproject.toml.")
@click.option("--hook", is_flag=True, help="Add the hook to .pre-commit-config.yaml.")
@click.option(
    "--workflow",
    "host",
    type=click.Choice(["github", "gitlab"]),
    help="Add the jobs of the bot, and [tool.devfix.bot], which switches it on.",
)
@click.option("--diff", is_flag=True, help="Print a diff on standard output; write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(folder: str, **given: Any) -> None:
    """Add devfix to the repository of FOLDER: shows each change as a diff, and asks.

    Without --config, --hook and --workflow, what fits is offered: the configuration, the hook where pre-commit is
    used, and, where there is somebody to ask, the workflow if GitHub runs others. What is there stays as it is; a
    second run changes nothing.

    Exit codes: 0 all is there, or was declined; 1 something was only shown, or cannot be added; 2 wrong usage; 130
    interrupted.
    """
    from devfix.cli._init_command import run

    click.get_current_context().exit(run(folder, **given))
