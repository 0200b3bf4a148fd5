"""``devfix mcp``."""

from __future__ import annotations

import os
import secrets
from importlib.util import find_spec

import click

from devfix.cli._errors import CommandError

__all__ = ["command"]

_TOKEN = "DEVFIX_MCP_TOKEN"


@click.command("mcp", short_help="Serve coding agents (Model Context Protocol).")
@click.option(
    "--root",
    "roots",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder that the tools may read and write (repeatable; default: the current one).",
)
@click.option("--allow-run", is_flag=True, help="Let the tools verify and diagnose run scripts, in a sandbox.")
@click.option(
    "--http",
    "port",
    metavar="PORT",
    type=click.IntRange(1, 65535),
    help="Serve HTTP on 127.0.0.1 instead of standard input and output.",
)
def command(roots: tuple[str, ...], allow_run: bool, port: int | None) -> None:
    """Serve the tools diagnose, check, apply, port_plan, verify and explain to a coding agent.

    The agent starts this command and communicates over standard input and output. Without --allow-run no code of the
    project runs. With --http, clients send the token of the environment variable DEVFIX_MCP_TOKEN; without one, a new
    token is printed.

    Setup of clients: https://devfix.readthedocs.io/en/latest/how-to/mcp-clients.html

    \b
    Examples:
      devfix mcp
      devfix mcp --root ~/project --allow-run
      DEVFIX_MCP_TOKEN=... devfix mcp --http 8631

    Exit codes: 0 the client has left; 2 usage error.
    """
    if find_spec("mcp") is None:
        raise CommandError("devfix mcp requires the MCP SDK: pip install 'devfix[mcp]'")
    from devfix.mcp.folders import Folders
    from devfix.mcp.serving import serve_http, serve_stdio

    folders = Folders(roots or (".",))
    if port is None:
        serve_stdio(folders, may_run=allow_run)
        return
    token = os.environ.get(_TOKEN) or secrets.token_urlsafe(32)
    if not os.environ.get(_TOKEN):
        click.echo(f"token: {token}", err=True)
    serve_http(folders, port, token, may_run=allow_run)
