"""``devfix migrate``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._errors import VERBOSE

__all__ = ["command"]


def _shard(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int]:
    """Parse ``2/5``, the second of five parts."""
    if value is None:
        return 1, 1
    first, slash, second = value.partition("/")
    if not (slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise click.BadParameter(f"{value!r} must be like 2/5: the second of five parts")
    return int(first), int(second)


def _set_verbose(context: click.Context, parameter: click.Parameter, value: int) -> int:
    context.meta[VERBOSE] = value > 0
    return value


class _Migrate(click.Command):
    """Dispatch ``devfix migrate init``, a separate command; use ``./init`` for a folder of that name."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["init"]:
            return init.make_context(f"{info_name} init", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("migrate", cls=_Migrate, short_help="Repair many repositories.")
@click.argument("plan", metavar="PLAN")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Workers (default: all cores); with --scheduler, repositories in flight (default: two per worker).",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    help="Processes on this machine, or a Dask cluster (default: local, or dask with --scheduler).",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="The scheduler of a cluster, such as tcp://HOST:8786 (see docs/clusters.md)."
)
@click.option(
    "--out",
    default="devfix-migrate",
    show_default=True,
    metavar="DIR",
    help="Output folder for patches/, records.jsonl and the log.",
)
@click.option("--state", metavar="FILE", help="Records of finished repositories (default: state.sqlite in --out).")
@click.option("--resume/--no-resume", default=True, help="Skip finished repositories, or process all again.")
@click.option("--retry-failed", is_flag=True, help="Process failed repositories again; keep those that are not-fixed.")
@click.option(
    "--dry-run", is_flag=True, help="Create patches, but no branches or pushes; exit with 1 if there are any patches."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N repositories.")
@click.option("--shard", metavar="I/N", callback=_shard, help="Only the I-th of N parts of the plan.")
@click.option(
    "--fail-level",
    type=click.Choice(["none", "any", "all"]),
    default="any",
    show_default=True,
    help="Exit with 1 if any, or all, repositories are not-fixed or failed; none: never.",
)
@click.option("--report", type=click.Path(dir_okay=False), metavar="FILE", help="Write an HTML report for review.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "jsonl", "sarif"]),
    default="text",
    show_default=True,
    help="text goes to standard error; jsonl and sarif go to standard output, in the order of the plan.",
)
@click.option("-q", "--quiet", count=True, help="Omit the line per repository; twice: also the summary.")
@click.option("-v", "--verbose", count=True, callback=_set_verbose, help="Show tracebacks.")
def command(**given: Any) -> None:
    """Fix every repository of PLAN: a TOML plan, a folder of repositories, or a file that lists them.

    Each repository is fetched into a mirror and processed in a worktree of it; the source is only read. After an
    interruption, the same command continues. `devfix migrate init` writes a plan.

    Exit codes: 0 all repositories are clean or fixed; 1 some are not (--fail-level), or in a dry run would change;
    2 wrong usage, an invalid plan, or an output cannot be written; 130 interrupted.
    """
    from devfix.cli._migrating import run

    click.get_current_context().exit(run(**given))


@click.command("init", short_help="Write a plan.")
@click.argument("source", metavar="DIR|LIST", default=".")
@click.option("-o", "--output", default="devfix-plan.toml", show_default=True, metavar="FILE", help="'-' prints it.")
def init(source: str, output: str) -> None:
    """Write a commented plan for the repositories of a folder or a list."""
    from devfix.cli._migrating import write_plan

    click.get_current_context().exit(write_plan(source, output))
