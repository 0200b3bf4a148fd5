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
    "forge",
    type=click.Choice(["github", "gitlab"]),
    help="Add the bot's CI jobs, and [tool.devfix.bot], which enables it.",
)
@click.option("--agent", is_flag=True, help="Add a skill for coding agents, and lines in AGENTS.md and CLAUDE.md.")
@click.option("--diff", is_flag=True, help="Print a diff to standard output; write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not prompt.")
def command(folder: str, **given: Any) -> None:
    """Add devfix to the repository of FOLDER: show each change as a diff, and prompt.

    Without --config, --hook, --workflow and --agent, the steps that fit are offered: the configuration; the hook, if
    the repository uses pre-commit; and, on a terminal, the workflow, if the repository has GitHub workflows. Existing
    content stays as it is; a second run changes nothing.

    Exit codes: 0 all steps are done or were declined; 1 a step was only shown, or cannot be done; 2 wrong usage; 130
    interrupted.
    """
    from devfix.cli._init_command import run

    click.get_current_context().exit(run(folder, **given))
