"""``devfix trace``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._output_pages import format_option
from devfix.cli._verifying import ScriptCommand, run_options

__all__ = ["command"]


@click.command("trace", cls=ScriptCommand, short_help="Run a script and trace a device error to its cause.")
@click.argument("script", metavar="SCRIPT")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS...]")
@click.option(
    "--log", metavar="FILE", help="Rank causes of the error in a traceback or log ('-': standard input); run nothing."
)
@click.option(
    "--map",
    "device_map",
    is_flag=True,
    help="Stop after the first step, and show the devices of modules, optimizers and batches, and memory use.",
)
@run_options
@click.option("--keep", is_flag=True, help="Keep the scratch copy, and print its path.")
@format_option(
    "chrome-trace", note="chrome-trace is the timeline of values on devices, for ui.perfetto.dev and chrome://tracing."
)
def command(
    script: str, args: tuple[str, ...], log: str | None, device_map: bool, output_format: str, **given: Any
) -> None:
    """Run SCRIPT once; on a device error, show which two tensors conflict and where each was created and moved.

    The script runs in a scratch copy of its project, without secrets in the environment and with limits on time and
    memory. Put arguments of the script after '--', as in `devfix trace train.py -- --epochs 1`.

    With --log, nothing runs; findings of static analysis on the lines of a traceback are ranked.

    With --map, the run stops after the first step of each optimizer; misplaced values are marked.

    Exit codes: 0 no device error and nothing misplaced; 1 a device error or a misplaced value; 2 usage error, or the
    script did not finish.
    """
    from devfix.cli import _tracing

    context = click.get_current_context()
    if device_map and log is None:
        context.exit(_tracing.map_script(script, args, output_format, **given))
    if log is None:
        context.exit(_tracing.trace_script(script, args, output_format, **given))
    from devfix.cli._diagnosing import trace_log

    _tracing.refuse_run_options(context, args, output_format)
    context.exit(trace_log(script, log, output_format, given["cwd"], given["project"], module=given["module"]))
