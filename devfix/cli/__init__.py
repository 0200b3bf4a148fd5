"""The ``devfix`` command line.

Commands are imported on use: ``devfix --version`` imports click and nothing heavier.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from devfix import __version__
from devfix.cli._agents import AGENT, agent_note
from devfix.cli._color import add_color_option
from devfix.cli._errors import CommandError, Interrupted, report_errors
from devfix.cli._invocation import INVOCATION

__all__ = ["cli", "main"]

# command → its line in ``devfix --help``; the module devfix.cli.commands.<command> has a click command ``command``
_COMMANDS = {
    "check": "Report device bugs without changing files.",
    "apply": "Fix device bugs in files and directories.",
    "port": "Let programs that require CUDA run on other machines.",
    "verify": "Verify fixes by running a script.",
    "trace": "Run a script and trace a device error to its cause.",
    "diagnose": "Find the cause of a traceback or log.",
    "explain": "Explain a rule or an error message.",
    "rules": "List all rules.",
    "init": "Set up devfix in a repository.",
    "lsp": "Run the language server.",
    "mcp": "Serve coding agents (Model Context Protocol).",
    "bot": "Review and open pull requests in CI.",
    "migrate": "Fix device bugs in many repositories.",
    "completion": "Print a shell completion script.",
    "clean": "Delete cached results.",
    "help": "Show the help of a command.",
}


class _LazyGroup(click.Group):
    """A group that imports its commands on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"devfix.cli.commands.{cmd_name}").command
        add_color_option(command)
        if any(AGENT in getattr(each.type, "choices", ()) for each in command.params):
            command.epilog = agent_note()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text(agent_note())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(_unknown_command(args[0]))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(_FIRST_STEPS)
            ctx.exit(2)
        ctx.meta[INVOCATION] = (tuple(args), time.time())
        with report_errors(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with report_errors(ctx):
            return super().invoke(ctx)


def _unknown_command(name: str) -> str:
    from devfix.cli._suggestions import meant_command

    if os.path.lexists(name):
        return f"{name!r} is not a command; did you mean 'devfix check {name}'?"
    return f"no such command {name!r}{meant_command(name, _COMMANDS)}"


_FIRST_STEPS = """\
devfix finds and repairs PyTorch device bugs. Begin with one of these:
  devfix check .                  list the bugs in this folder
  devfix apply . --diff           show the repairs as a diff
  devfix verify train.py -- ARGS  run a script with and without the repairs
  devfix --help                   list all commands"""


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="devfix", message="%(prog)s %(version)s")
def cli() -> None:
    """Find and fix PyTorch device bugs.

    \b
    Examples:
      devfix check                       report the bugs in this directory
      devfix apply --diff                show the fixes as a diff
      devfix verify train.py -- ARGS     prove the fixes by running a script

    Exit codes: 0 nothing left to do; 1 findings remain, files would change, a file could not be processed, or a fix is
    not verified; 2 usage error, missing path, configuration error or internal error; 130 interrupted.
    """


add_color_option(cli)


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
    except BrokenPipeError:  # the reader of standard output has exited, as in ``devfix check . | head``
        _discard_stdout()
        code = 1
    code = _flushed(code or 0)
    if code == Interrupted.exit_code:
        # After a Ctrl-C inside ``exec`` (as in dataclasses), CPython exits by the signal; another ``exec`` resets this.
        exec("")
    sys.exit(code)


def _flushed(code: int) -> int:
    """Write what standard output still holds, and return the exit code; Python would exit with 120 and a traceback."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
        return code or 1
    except OSError as error:  # the disk is full
        _discard_stdout()
        if code in (0, 1):
            CommandError(f"standard output: {error.strerror}").show()
        return CommandError.exit_code
    return code


def _discard_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
