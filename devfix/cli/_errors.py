"""Failures as one line each: no traceback for a person who did nothing wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

__all__ = ["VERBOSE", "CommandError", "Interrupted", "report_errors"]

VERBOSE = "devfix.verbose"  # key in ``click.Context.meta``


class CommandError(click.ClickException):
    """An error that is its message: ``devfix: …`` on standard error."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"devfix: {self.format_message()}", file=file or sys.stderr)


class Interrupted(CommandError):
    """Ctrl-C."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("interrupted; every file holds either its old or its new content")


def _nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


@contextmanager
def report_errors(context: click.Context) -> Iterator[None]:
    """Turn what a verb raises into one line and an exit code."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except Exception as error:
        from devfix.config import ConfigError

        if isinstance(error, ConfigError):
            raise CommandError(str(error)) from error
        if isinstance(error, FileNotFoundError) and _nowhere():
            raise CommandError("the current folder has been deleted: change to one that is there") from error
        if context.meta.get(VERBOSE):
            import traceback

            traceback.print_exc()
        what = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise CommandError(
            f"internal error: {what}. Nothing further was written."
            " Please report this with the file and the output of the same command with -v."
        ) from error
