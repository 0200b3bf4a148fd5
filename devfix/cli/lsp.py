"""``devfix lsp``."""

from __future__ import annotations

from importlib.util import find_spec

import click

from devfix.cli._errors import CommandError

__all__ = ["command"]


@click.command("lsp", short_help="Serve an editor.")
@click.option("--stdio", is_flag=True, help="Speak on standard input and output (the default; editors pass it).")
def command(stdio: bool) -> None:
    """Serve an editor by the language server protocol, on standard input and output.

    How to set up VS Code, Neovim and Helix: docs/editors.md. Exit codes: 0 the editor has said goodbye; 1 it has gone
    without.
    """
    if find_spec("pygls") is None:
        raise CommandError("devfix lsp needs pygls: pip install 'devfix[lsp]'")
    from devfix.lsp.serving import serve

    click.get_current_context().exit(serve())
