"""``devfix apply``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._options import selection_options
from devfix.cli._verifying import run_options

__all__ = ["command"]

_SCRIPT_ARGUMENTS = "devfix.script_arguments"  # key in ``click.Context.meta``


class _Apply(click.Command):
    """With ``--verify`` and ``--trace``, what follows '--' are the script's arguments and not further paths."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if not {"--verify", "--trace"}.isdisjoint(args[:end]):
            ctx.meta[_SCRIPT_ARGUMENTS] = tuple(args[end + 1 :])
            args = args[:end]
        return super().parse_args(ctx, args)


@click.command("apply", cls=_Apply, short_help="Repair device bugs in files and folders.")
@selection_options
@click.option("--diff", is_flag=True, help="Print a diff on standard output; write nothing.")
@click.option("--check", is_flag=True, help="Report what would change; write nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="Also make edits that may change more than the device.")
@click.option(
    "--verify",
    is_flag=True,
    help="Run the first file that is named, with the arguments after '--'; write only what is proved. The options"
    " below are for these runs.",
)
@click.option(
    "--trace",
    is_flag=True,
    help="Like --verify, and where the script still fails, repair it from what its run shows, in all files of the"
    " program.",
)
@run_options
def command(diff: bool, check: bool, verify: bool, trace: bool, **given: Any) -> None:
    """Repair device bugs in files and folders; '-' reads standard input and writes the result to standard output.

    Edits are made only in what is named here; the analysis reads what it imports in the project.
    `devfix apply . --diff | git apply` gives the same bytes as `devfix apply .`.
    `devfix apply train.py models/ --verify -- --epochs 1` runs train.py and writes nothing that is not proved.
    `devfix apply --trace train.py -- --epochs 1` looks for the repair by running it, too.
    """
    from devfix.cli._request import Request
    from devfix.cli._session import run
    from devfix.cli._verifying import take_run_options
    from devfix.report import Mode

    context = click.get_current_context()
    proof = take_run_options(
        context, given, context.meta.get(_SCRIPT_ARGUMENTS, ()), wanted=verify or trace, trace=trace
    )
    mode = Mode.PREVIEW if diff or check else Mode.APPLY
    context.exit(run(Request.of(mode, diff=diff, proof=proof, **given)))
