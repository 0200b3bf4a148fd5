"""``devfix apply``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._options import selection_options
from devfix.cli._verifying import run_options

__all__ = ["command"]

_SCRIPT_ARGUMENTS = "devfix.script_arguments"  # key in ``click.Context.meta``


class _Apply(click.Command):
    """With ``--verify`` and ``--trace``, arguments after '--' are the script's, not paths."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if not {"--verify", "--trace"}.isdisjoint(args[:end]):
            ctx.meta[_SCRIPT_ARGUMENTS] = tuple(args[end + 1 :])
            args = args[:end]
        return super().parse_args(ctx, args)


@click.command("apply", cls=_Apply, short_help="Fix device bugs in files and directories.")
@selection_options
@click.option("--diff", is_flag=True, help="Print a diff to standard output instead of writing files.")
@click.option("--check", is_flag=True, help="Report changes without writing files.")
@click.option(
    "--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if a file was changed, even if nothing remains."
)
@click.option(
    "--add-ignore",
    is_flag=True,
    help="Instead of fixes, add '# devfix: ignore[CODE]' for each finding, so that only new ones are reported.",
)
@click.option("--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes, which may change more than devices.")
@click.option(
    "--verify",
    is_flag=True,
    help="Run the first file in PATH with the arguments after '--', and write only verified fixes. The options below"
    " apply to these runs.",
)
@click.option(
    "--trace",
    is_flag=True,
    help="Like --verify; if the script still fails, also derive fixes from its runs, in all files of the program.",
)
@run_options
def command(diff: bool, check: bool, verify: bool, trace: bool, **given: Any) -> None:
    """Fix device bugs in files and directories (default: the current one).

    \b
    Examples:
      devfix apply --diff
      devfix apply train.py models/
      devfix apply train.py . --verify -- --epochs 1
      devfix apply --trace train.py -- --epochs 1

    Only the given paths are edited; the analysis also reads project modules that they import. '-' reads standard input
    and writes to standard output.
    """
    from devfix.cli._request import Request
    from devfix.cli._session import run
    from devfix.cli._verifying import take_run_options
    from devfix.cli._watch import watch
    from devfix.report import Mode

    context = click.get_current_context()
    proof = take_run_options(
        context, given, context.meta.get(_SCRIPT_ARGUMENTS, ()), wanted=verify or trace, trace=trace
    )
    mode = Mode.PREVIEW if diff or check else Mode.APPLY
    request = Request.of(mode, diff=diff, proof=proof, **given)
    context.exit(watch(request) if request.watch else run(request))
