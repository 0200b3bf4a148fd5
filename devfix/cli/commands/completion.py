"""``devfix completion``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("completion", short_help="Print a shell completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def command(shell: str) -> None:
    """Print a shell script that completes commands, options and rules, for SHELL: bash, zsh or fish.

    \b
    bash, in ~/.bashrc:               eval "$(devfix completion bash)"
    zsh, in ~/.zshrc after compinit:  eval "$(devfix completion zsh)"
    fish: devfix completion fish > ~/.config/fish/completions/devfix.fish
    """
    from click.shell_completion import get_completion_class

    from devfix.cli import cli

    completer = get_completion_class(shell)
    assert completer is not None  # click supports all choices
    click.echo(completer(cli, {}, "devfix", "_DEVFIX_COMPLETE").source())
