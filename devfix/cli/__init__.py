"""The ``devfix`` command.

Nothing but click is imported until a verb runs: ``devfix --version`` must cost no more than click does.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from devfix import __version__
from devfix.cli._errors import Interrupted, report_errors

__all__ = ["cli", "main"]

# verb → its one line in ``devfix --help``; the module devfix.cli.<verb> holds a command named ``command``
_VERBS = {
    "apply": "Repair device bugs in files and folders.",
    "bot": "Review pull requests and open them, in CI.",
    "check": "Print device bugs and change nothing.",
    "init": "Add devfix to a repository.",
    "migrate": "Repair many repositories.",
    "completion": "Print what a shell needs to complete commands, options and rules.",
    "explain": "Explain one rule, with an example.",
    "lsp": "Serve an editor.",
    "rules": "List all rules.",
    "trace": "Run a script and tell what a device error comes from.",
    "verify": "Prove a repair by running the script.",
}


class _Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command: click.Command = importlib.import_module(f"devfix.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        with report_errors(ctx):
            return super().invoke(ctx)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="devfix")
def cli() -> None:
    """Find and repair PyTorch device bugs.

    Exit codes: 0 nothing to do or all done; 1 findings remain, files would change, a file could not be handled,
    or a repair is not proved; 2 wrong usage, wrong configuration or an internal error; 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    try:
        code = cli.main(arguments, prog_name="devfix", standalone_mode=False)
    except click.Abort:
        Interrupted().show()
        code = Interrupted.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:  # the reader of our output has gone, as with ``| head``
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    if code == Interrupted.exit_code:
        exec(
            ""
        )  # where Ctrl-C met code in a string, as dataclasses have it, CPython would end by the signal all the same
    sys.exit(code or 0)
