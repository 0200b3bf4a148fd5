"""``devfix migrate init``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from devfix.cli._errors import CommandError

if TYPE_CHECKING:
    from devfix.migrate.task import Task

__all__ = ["write_plan"]


def write_plan(source: str, output: str, where: str | None, filters: Mapping[str, Any]) -> int:
    """Write a plan for the repositories of a folder or a list, or of a forge; return the exit code."""
    from devfix.migrate.plan import read_plan
    from devfix.migrate.plan_template import template

    if where is None and any(filters.values()):
        raise click.UsageError("filters are for --discover")
    tasks = read_plan(source) if where is None else _discovered(where, filters)
    text = template(tasks, "" if output == "-" else os.path.dirname(os.path.abspath(output)))
    if output == "-":
        sys.stdout.write(text)
        return 0
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{output} already exists: choose another --output") from None
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}") from error
    click.echo(f"wrote {output}: edit it, then run devfix migrate {output}", err=True)
    return 0


def _discovered(where: str, filters: Mapping[str, Any]) -> tuple[Task, ...]:
    """Return the repositories of an organization, a user or a group."""
    from devfix.bot.discovery import Filters, discover
    from devfix.bot.skip_reasons import BotError
    from devfix.migrate.plan import plan_of

    try:
        return plan_of(discover(where, Filters(**filters)), where)
    except BotError as error:
        raise CommandError(f"--discover: {error}") from error
    except ModuleNotFoundError as error:
        raise CommandError(f"--discover requires {error.name}: pip install 'devfix[bot]'") from error
