"""``devfix completion``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("completion", short_help="Print what a shell needs to complete commands, options and rules.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that completes commands, options and rules in a shell.

    bash, in ~/.bashrc: eval "$(devfix completion bash)". zsh, in ~/.zshrc after compinit: eval "$(devfix completion
    zsh)". fish: devfix completion fish > ~/.config/fish/completions/devfix.fish
    """
    from click.shell_completion import get_completion_class

    from devfix.cli import cli

    completer = get_completion_class(shell)
    assert completer is not None  # click has one for each of the choices
    click.echo(completer(cli, {}, "devfix", "_DEVFIX_COMPLETE").source())
