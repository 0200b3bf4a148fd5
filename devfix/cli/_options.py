"""Options shared by ``check`` and ``apply``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from devfix.cli._agents import default_format
from devfix.cli._errors import VERBOSE
from devfix.cli._rule_docs import complete_rules
from devfix.report.formats import FORMATS

__all__ = ["selection_options", "trust_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _split(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split values at commas and spaces: ``--select DEV1,DEV201 --select DEV3`` gives three codes."""
    codes = tuple(code for value in values for code in value.replace(",", " ").split())
    if values and not codes:
        raise click.BadParameter("it is empty: name codes, prefixes or rules", context, parameter)
    return codes


def _set_verbose(context: click.Context, parameter: click.Parameter, value: int) -> int:
    context.meta[VERBOSE] = value > 0
    return value


trust_option = click.option(
    "--trust-plugins",
    is_flag=True,
    help="Run the rules that pyproject.toml names under plugins: code of the repository.",
)
_OPTIONS = (
    click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]..."),
    click.option(
        "--select",
        multiple=True,
        callback=_split,
        shell_complete=complete_rules,
        metavar="CODES",
        help="Comma-separated rules to enable: codes, prefixes or names.",
    ),
    click.option(
        "--extend-select",
        multiple=True,
        callback=_split,
        shell_complete=complete_rules,
        metavar="CODES",
        help="Rules to enable in addition to those of the configuration.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        callback=_split,
        shell_complete=complete_rules,
        metavar="CODES",
        help="Comma-separated rules to disable.",
    ),
    click.option(
        "--severity",
        type=click.Choice(["error", "latent", "advice"]),
        help="Lowest severity to report (default: error, and what is latent only because no file starts a program).",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Skip the files that match, in addition to those of the configuration: a pattern as in .gitignore"
        " (repeatable).",
    ),
    click.option(
        "--force-exclude", is_flag=True, help="Apply configured exclusions even to paths on the command line."
    ),
    click.option(
        "--since",
        metavar="REV",
        help="Report only findings affected by changes since the merge base with REV (a commit, branch or tag); all"
        " files are still read.",
    ),
    click.option(
        "--staged",
        is_flag=True,
        help="Report only findings affected by staged changes; staged files are read from the index.",
    ),
    click.option("--stdin-filename", metavar="FILE", help="File name for standard input ('-')."),
    click.option(
        "--output-format",
        type=click.Choice(list(FORMATS)),
        default=default_format(),
        envvar="DEVFIX_OUTPUT_FORMAT",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: text). Printed to standard output; to standard error if that has a diff.",
    ),
    click.option(
        "--output-file",
        envvar="DEVFIX_OUTPUT_FILE",
        metavar="FILE",
        help="Write the report to FILE, and print the text report.",
    ),
    click.option("-w", "--watch", is_flag=True, help="Run again whenever a file changes, until Ctrl-C."),
    click.option("--statistics", is_flag=True, help="Show counts per rule instead of findings."),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of worker processes (default: all cores)."
    ),
    click.option(
        "--no-cache", is_flag=True, envvar="DEVFIX_NO_CACHE", help="Do not read or write the cache (devfix clean)."
    ),
    click.option("--show-files", is_flag=True, help="Print the files that would be processed, and exit."),
    click.option("--show-settings", is_flag=True, help="Print the configuration of this run as TOML, and exit."),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 although findings remain or files would change."),
    click.option("-q", "--quiet", count=True, help="Omit the summary, notes and fixed findings."),
    click.option(
        "-v",
        "--verbose",
        count=True,
        callback=_set_verbose,
        help="Show suppressed findings, and tracebacks of internal errors.",
    ),
    click.option(
        "--config",
        multiple=True,
        metavar="FILE|KEY=VALUE",
        help="Read [tool.devfix] from FILE; or set one key, as a line of TOML (repeatable).",
    ),
    click.option("--isolated", is_flag=True, help="Ignore all configuration files."),
    trust_option,
)


def selection_options(function: _Function) -> _Function:
    """Add the options for paths, rules and reports to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
