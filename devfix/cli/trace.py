"""``devfix trace``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._output_pages import format_option
from devfix.cli._verifying import ScriptCommand, run_options

__all__ = ["command"]


@click.command("trace", cls=ScriptCommand, short_help="Run a script and tell what a device error comes from.")
@click.argument("script", metavar="SCRIPT")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS...]")
@click.option("--log", metavar="FILE", help="Run nothing: look up the error in this traceback or log ('-': our input).")
@click.option(
    "--map",
    "place_map",
    is_flag=True,
    help="Show where everything lives after the first step: modules, optimizers, batches, memory; end there.",
)
@run_options
@click.option("--keep", is_flag=True, help="Leave the scratch copy behind, and say where.")
@format_option
def command(
    script: str, args: tuple[str, ...], log: str | None, place_map: bool, output_format: str, **given: Any
) -> None:
    """Run SCRIPT once and tell which two values met, where each was born and moved, and why.

    The script runs in a scratch copy of its project, without secrets in the environment and with limits on time and
    memory. Arguments of the script follow after '--', as in `devfix trace train.py -- --epochs 1`.

    With --log nothing runs: what reading finds on the lines of a pasted traceback is ranked.

    With --map the run ends after the first step of each optimizer, and what is out of place is marked.

    Exit codes: 0 no device error, or all in its place; 1 a device error, which is told, or something out of place; 2
    wrong usage, or the run could not be made.
    """
    from devfix.cli import _tracing

    context = click.get_current_context()
    if place_map and log is None:
        context.exit(_tracing.map_script(script, args, output_format, **given))
    if log is None:
        context.exit(_tracing.trace_script(script, args, output_format, **given))
    _tracing.refuse_run_options(context, args, output_format)
    context.exit(_tracing.trace_log(script, log, output_format, given["cwd"], given["project"], module=given["module"]))
