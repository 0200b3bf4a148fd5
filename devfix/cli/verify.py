"""``devfix verify``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._output_pages import format_option
from devfix.cli._verifying import ScriptCommand, run_options

__all__ = ["command"]


@click.command("verify", cls=ScriptCommand, short_help="Prove a repair by running the script.")
@click.argument("script", metavar="SCRIPT")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS...]")
@click.option(
    "--patched", metavar="PATH", help="The patched script or folder (default: what `devfix apply` would make of it)."
)
@run_options
@click.option("--keep", is_flag=True, help="Leave the scratch copies behind, and say where.")
@format_option
@click.option("--html", "page", type=click.Path(dir_okay=False), metavar="FILE", help="Write the html to FILE, too.")
def command(
    script: str, args: tuple[str, ...], patched: str | None, output_format: str, page: str | None, **given: Any
) -> None:
    """Run SCRIPT as it is and as patched, with and without an accelerator, and compare.

    The script runs in a scratch copy of its project, without secrets in the environment and with limits on time and
    memory. Arguments of the script follow after '--', as in `devfix verify -m pkg.train --max-steps 20 -- --epochs 1`.

    Exit codes: 0 the patch is right, or there was nothing to repair; 1 it is not, or nothing could be proved; 2 wrong
    usage.
    """
    from devfix.cli._verifying import verify

    click.get_current_context().exit(verify(script, args, patched, output_format, page, **given))
