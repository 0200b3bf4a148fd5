"""``devfix migrate``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._errors import VERBOSE

__all__ = ["command"]


def _shard(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int]:
    """``2/5`` is the second of five parts."""
    if value is None:
        return 1, 1
    first, slash, second = value.partition("/")
    if not (slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise click.BadParameter(f"{value!r} is not like 2/5: the second of five parts")
    return int(first), int(second)


def _loud(context: click.Context, parameter: click.Parameter, value: int) -> int:
    context.meta[VERBOSE] = value > 0
    return value


class _Migrate(click.Command):
    """``devfix migrate init`` is a command of its own; a folder of that name is ``./init``."""

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
    help="Workers (default: all cores); with --scheduler, how many repositories are in work (default: two a worker).",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    help="Processes of this machine, or a dask cluster (default: local, or dask with --scheduler).",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="A cluster's scheduler, as tcp://HOST:8786 (see docs/clusters.md)."
)
@click.option(
    "--out",
    default="devfix-migrate",
    show_default=True,
    metavar="DIR",
    help="Receives patches/, records.jsonl and the log.",
)
@click.option("--state", metavar="FILE", help="What is done (default: state.sqlite in --out).")
@click.option("--resume/--no-resume", default=True, help="Leave out what is done, or do everything anew.")
@click.option("--retry-failed", is_flag=True, help="Do again what failed; what is not-fixed stays.")
@click.option(
    "--dry-run", is_flag=True, help="Make patches, and neither branches nor pushes; exit with 1 where there are any."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N repositories.")
@click.option("--shard", metavar="I/N", callback=_shard, help="Only the I-th of N parts of the plan.")
@click.option(
    "--fail-level",
    type=click.Choice(["none", "any", "all"]),
    default="any",
    show_default=True,
    help="Exit with 1 where any, or all, of the repositories are not-fixed or failed; none: never.",
)
@click.option("--report", type=click.Path(dir_okay=False), metavar="FILE", help="Write one html file to review it in.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "jsonl", "sarif"]),
    default="text",
    show_default=True,
    help="text on standard error; jsonl and sarif on standard output, in the order of the plan.",
)
@click.option("-q", "--quiet", count=True, help="No line per repository; twice: no summary.")
@click.option("-v", "--verbose", count=True, callback=_loud, help="Tracebacks.")
def command(**given: Any) -> None:
    """Repair every repository of PLAN: a plan in TOML, a folder of repositories, or a file that lists them.

    Each repository is fetched into a mirror, and worked on in a worktree of it: what is named here is only read.
    A start after an interruption does what is left. `devfix migrate init` writes a plan.

    Exit codes: 0 all repositories are clean or fixed; 1 some are not (--fail-level), or in a dry run would change;
    2 wrong usage, a wrong plan, or nothing can be written; 130 interrupted.
    """
    from devfix.cli._migrating import run

    click.get_current_context().exit(run(**given))


@click.command("init", short_help="Write a plan.")
@click.argument("source", metavar="DIR|LIST", default=".")
@click.option("-o", "--output", default="devfix-plan.toml", show_default=True, metavar="FILE", help="'-' prints it.")
def init(source: str, output: str) -> None:
    """Write a plan, with remarks, for the repositories in a folder or a list."""
    from devfix.cli._migrating import write_plan

    click.get_current_context().exit(write_plan(source, output))
