"""Errors of the command line, reported as one line without a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

__all__ = ["VERBOSE", "CommandError", "Interrupted", "report_errors"]

VERBOSE = "devfix.verbose"  # key in ``click.Context.meta``


#: What writing to a full disk, or beyond a limit, raises.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)

#: Raised by click 8.2 and later where a group is called without a command; its message is the group's help.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())


#: Words of click → ours.
_PLAIN = {
    "is not a valid float range": "is not a number",
    "is not a valid integer range": "is not an integer",
    ". Choose from:\n\t": "; choose one of ",
    ",\n\t": ", ",
}


class CommandError(click.ClickException):
    """An error that is shown as ``devfix: message`` on standard error."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        from devfix.report.sanitize import PREFIX, printable

        # A stranger's file may be quoted: its line ends would begin lines that a CI job takes for commands.
        click.echo(PREFIX + printable(self.format_message()), file=file or sys.stderr)


class UsageMistake(CommandError):
    """Invalid usage: one line says what is wrong, a second one which help to read.

    Args:
        error: click's error.

    """

    def __init__(self, error: click.UsageError) -> None:
        message = error.message if isinstance(error, click.NoSuchOption) else error.format_message()
        message = message.removesuffix(".").replace(". Did you mean ", "; did you mean ") + _meant(error)
        for words, plain in _PLAIN.items():
            message = message.replace(words, plain)
        begins_a_sentence = message[:1].isupper() and message[1:2].islower()
        super().__init__(message[:1].lower() + message[1:] if begins_a_sentence else message)
        self.context = error.ctx

    def show(self, file: IO[Any] | None = None) -> None:
        super().show(file)
        if self.context is not None:
            click.echo(f"Try '{self.context.command_path} --help'.", file=file or sys.stderr)


def _meant(error: click.UsageError) -> str:
    """Return "; did you mean …?" for an unknown option or value; empty if nothing is similar."""
    from devfix.cli._suggestions import meant_option, meant_value

    if isinstance(error, click.NoSuchOption):
        root = error.ctx and error.ctx.find_root()
        group = root.command if root is not None else None
        if root is None or not isinstance(group, click.Group):
            return meant_option(error, {})
        commands = {name: group.get_command(root, name) for name in group.list_commands(root)}
        return meant_option(error, {name: command for name, command in commands.items() if command is not None})
    return meant_value(error.message) if isinstance(error, click.BadParameter) else ""


class Interrupted(CommandError):
    """Ctrl-C."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("interrupted; no file is partially written")


def _is_cwd_deleted() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _place(error: Exception) -> str:
    """Return the line that raised an exception, and its function."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}"


@contextmanager
def report_errors(context: click.Context) -> Iterator[None]:
    """Turn exceptions of a command into a :class:`CommandError`."""
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, _HELP):
            raise
        raise UsageMistake(error) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except Exception as error:
        from devfix.config import ConfigError

        if isinstance(error, ConfigError):
            raise CommandError(str(error)) from error
        if isinstance(error, FileNotFoundError) and _is_cwd_deleted():
            raise CommandError("the current directory has been deleted: change to an existing one") from error
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            raise CommandError(f"the output cannot be written: {error.strerror}") from error
        if context.meta.get(VERBOSE):
            import traceback

            traceback.print_exc()
        summary = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise CommandError(
            f"internal error at {_place(error)}: {summary}. Nothing further was written."
            " Please report this with the file."
        ) from error
