"""``devfix lsp``."""

from __future__ import annotations

from importlib.util import find_spec

import click

from devfix.cli._errors import CommandError

__all__ = ["command"]


@click.command("lsp", short_help="Run the language server.")
@click.option(
    "--stdio", is_flag=True, help="Communicate over standard input and output (the default; editors pass this option)."
)
def command(stdio: bool) -> None:
    """Run the language server on standard input and output.

    Setup of editors: https://devfix.readthedocs.io/en/latest/how-to/editors.html

    Exit codes: 0 clean shutdown; 1 disconnected.
    """
    if find_spec("pygls") is None:
        raise CommandError("devfix lsp requires pygls: pip install 'devfix[lsp]'")
    from devfix.lsp.serving import serve

    click.get_current_context().exit(serve())
