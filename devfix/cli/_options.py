"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from devfix.cli._errors import VERBOSE
from devfix.cli._rule_docs import complete_rules
from devfix.report.formats import FORMATS

__all__ = ["selection_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _split(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """``--select DEV1,DEV201 --select DEV3`` is three codes."""
    return tuple(code for value in values for code in value.replace(",", " ").split())


def _loud(context: click.Context, parameter: click.Parameter, value: int) -> int:
    context.meta[VERBOSE] = value > 0
    return value


_OPTIONS = (
    click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH..."),
    click.option(
        "--select",
        multiple=True,
        callback=_split,
        shell_complete=complete_rules,
        metavar="CODES",
        help="Only these rules: codes or names.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        callback=_split,
        shell_complete=complete_rules,
        metavar="CODES",
        help="Not these rules.",
    ),
    click.option(
        "--severity",
        type=click.Choice(["error", "latent", "advice"]),
        help="Report down to this severity (default: error).",
    ),
    click.option(
        "--force-exclude", is_flag=True, help="Leave out what the configuration excludes, also where it is named."
    ),
    click.option(
        "--since",
        metavar="REV",
        help="Only what has to do with lines changed since REV (a commit, branch or tag) was left; all files are read.",
    ),
    click.option(
        "--staged", is_flag=True, help="Only what has to do with lines that are staged, as they are in the index."
    ),
    click.option("--stdin-filename", metavar="FILE", help="The name of what '-' reads from standard input."),
    click.option(
        "--output-format",
        type=click.Choice(list(FORMATS)),
        default="text",
        show_default=True,
        help="text on standard error; the others on standard output.",
    ),
    click.option(
        "--output-file",
        metavar="FILE",
        help="Write the report to FILE, in the --output-format; text goes to standard error all the same.",
    ),
    click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them."),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes (default: all cores)."
    ),
    click.option("--no-cache", is_flag=True, help="Read everything anew, and keep nothing for the next run."),
    click.option("-q", "--quiet", count=True, help="No summary."),
    click.option("-v", "--verbose", count=True, callback=_loud, help="Suppressed findings; tracebacks."),
    click.option("--config", "config_file", type=click.Path(), metavar="FILE", help="Read [tool.devfix] from FILE."),
    click.option("--isolated", is_flag=True, help="Read no configuration."),
)


def selection_options(function: _Function) -> _Function:
    """What to look at, which rules, and how to report."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
