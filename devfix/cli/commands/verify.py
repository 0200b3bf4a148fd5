"""``devfix verify``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._agents import AGENT
from devfix.cli._machines import refuse_device
from devfix.cli._output_pages import format_option
from devfix.cli._verifying import ScriptCommand, run_options

__all__ = ["command"]


@click.command("verify", cls=ScriptCommand, short_help="Verify fixes by running a script.")
@click.argument("script", metavar="SCRIPT")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS...]")
@click.option(
    "--patched",
    metavar="PATH",
    help="Patched script or directory, or a diff: FILE.diff, FILE.patch or - (default: the result of `devfix apply`).",
)
@click.option(
    "--since", metavar="REV", help="Verify the edits since the commit REV: the original is the project at REV."
)
@click.option("--unsafe-fixes", is_flag=True, help="Also verify unsafe fixes, as of `devfix apply --unsafe-fixes`.")
@click.option(
    "--on",
    "machines",
    metavar="MACHINES",
    help="Run on several machines, real or simulated, and compare the losses: cpu,cuda,2xcuda,mps,xpu,npu.",
)
@run_options
@click.option("--keep", is_flag=True, help="Keep the scratch copies, and print their paths.")
@format_option(AGENT)
@click.option(
    "--html", "page", type=click.Path(dir_okay=False), metavar="FILE", help="Also write an HTML report to FILE."
)
def command(
    script: str,
    args: tuple[str, ...],
    patched: str | None,
    since: str | None,
    unsafe_fixes: bool,
    machines: str | None,
    output_format: str,
    page: str | None,
    **given: Any,
) -> None:
    """Run the original and the patched SCRIPT, with and without an accelerator, and compare the results.

    The script runs in scratch copies of its project, without secrets in the environment and with limits on time and
    memory. Put arguments of the script after '--', as in `devfix verify -m pkg.train --max-steps 20 -- --epochs 1`.

    With --on, the script runs once on each machine, before and after the fixes.

    Exit codes: 0 the fixes are verified, or there is no device error (with --on: the script completes on every machine,
    with the same losses); 1 the fixes are wrong, or nothing could be verified; 2 usage error.
    """
    from devfix.cli._interrupts import interruptible
    from devfix.cli._verifying import GivenPatch, verify

    context = click.get_current_context()
    refuse_device(context, machines)
    patch = GivenPatch(patched, since, unsafe_fixes)
    with interruptible():
        context.exit(verify(script, args, patch, machines, output_format, page, **given))
