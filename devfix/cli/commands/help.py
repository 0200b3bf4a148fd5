"""``devfix help``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("help", short_help="Show the help of a command.")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
def command(words: tuple[str, ...]) -> None:
    """Show the help of a command, as its option --help does.

    \b
    Examples:
      devfix help
      devfix help check
      devfix help migrate status
    """
    context = click.get_current_context().find_root()
    context.command.main([*words, "--help"], prog_name=context.info_name, standalone_mode=False)
