"""``devfix migrate``."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from devfix.cli._color import add_color_option
from devfix.cli._errors import VERBOSE
from devfix.site import page_url

if TYPE_CHECKING:
    from devfix.migrate.proposing import MergeMethod

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
    """Dispatch to the subcommands; use ``./status`` for a plan of such a name."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        subcommand = SUBCOMMANDS.get(args[0]) if args else None
        if subcommand is not None:
            return subcommand.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands."""
        with formatter.section("Subcommands"):
            formatter.write_dl([(name, command.short_help or "") for name, command in SUBCOMMANDS.items()])


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
    "--scheduler",
    metavar="ADDRESS",
    help=f"The scheduler of a cluster, such as tcp://HOST:8786 (see {page_url('how-to/clusters')}).",
)
@click.option(
    "--out",
    default="devfix-migrate",
    show_default=True,
    metavar="DIR",
    help="Output folder for patches/, records.jsonl and the log.",
)
@click.option("--state", metavar="FILE", help="Records of finished repositories (default: state.log in --out).")
@click.option(
    "--results",
    metavar="URL",
    help="Shared folder or object store (s3://…) to which workers write complete records and patches.",
)
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
    help="Printed to standard output: a line per repository and the totals; or records, in the order of the plan.",
)
@click.option("-q", "--quiet", count=True, help="Omit the line per repository; twice: also the summary.")
@click.option("-v", "--verbose", count=True, callback=_set_verbose, help="Show tracebacks.")
def command(**given: Any) -> None:
    """Fix every repository of PLAN: a TOML plan, a folder of repositories, or a file that lists them.

    Each repository is fetched into a mirror and processed in a worktree of it; the source is only read. After an
    interruption, the same command continues.

    Exit codes: 0 all repositories are clean or fixed; 1 some are not (--fail-level), or in a dry run would change;
    2 wrong usage, an invalid plan, or an output cannot be written; 130 interrupted.
    """
    from devfix.cli.migrating.run import Options, run

    click.get_current_context().exit(run(Options(**given)))


_STATE = click.argument("state", metavar="[DIR|STATE]", default="devfix-migrate")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")


@click.command("init", short_help="Write a plan.")
@click.argument("source", metavar="DIR|LIST", default=".")
@click.option("-o", "--output", default="devfix-plan.toml", show_default=True, metavar="FILE", help="'-' prints it.")
@click.option(
    "--discover",
    metavar="WHERE",
    help="The repositories of github:org/NAME, github:user/NAME or gitlab:group/PATH, in place of DIR or LIST.",
)
@click.option("--language", default="", metavar="NAME", help="Only repositories in this programming language.")
@click.option("--min-stars", type=click.IntRange(min=0), default=0, metavar="N", help="Only with that many stars.")
@click.option("--pushed-since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Only with a push since then.")
@click.option("--archived", is_flag=True, help="Also archived repositories.")
@click.option("--forks", is_flag=True, help="Also forks.")
def init(source: str, output: str, discover: str | None, pushed_since: datetime | None, **filters: Any) -> None:
    """Write a commented plan for the repositories of a folder, a list or a forge.

    The filters are for --discover, which reads the token and the address of a self-hosted forge from the environment,
    as pull requests do.
    """
    from devfix.cli.migrating.init import write_plan

    filters["pushed_since"] = None if pushed_since is None else pushed_since.date()
    click.get_current_context().exit(write_plan(source, output, discover, filters))


@click.command("status", short_help="Show progress, failures and pull requests.")
@_STATE
@click.option("--changes", is_flag=True, help="List the pull requests with their checks and reviews.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def status(state: str, changes: bool, output_format: str) -> None:
    """Show progress, failures and pull requests of a migration, which may be running.

    DIR is the output folder (--out) of the migration.
    """
    from devfix.cli.migrating.status import show

    click.get_current_context().exit(show(state, with_changes=changes, output_format=output_format))


@click.command("retry", short_help="Process failed repositories again.")
@_STATE
@click.option("--stage", "stages", multiple=True, metavar="STAGE", help="Only failures in this stage; repeatable.")
@click.option("--match", "text", default="", metavar="TEXT", help="Only failures with this text in name or reason.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Workers (default: as before).")
def retry(state: str, stages: tuple[str, ...], text: str, jobs: int | None) -> None:
    """Run the plan of the last run again, and process its failed repositories again."""
    from devfix.cli.migrating.run import retry as retry_failed

    click.get_current_context().exit(retry_failed(state, stages=stages, text=text, jobs=jobs))


@click.command("report", short_help="Write a report of all records.")
@_STATE
@click.option("-o", "--output", default="devfix-migrate.html", show_default=True, metavar="FILE", help="For html.")
@click.option(
    "--output-format",
    type=click.Choice(["html", "jsonl", "sarif"]),
    default="html",
    show_default=True,
    help="jsonl and sarif go to standard output.",
)
def report(state: str, output: str, output_format: str) -> None:
    """Write a report of the latest record of each repository."""
    from devfix.cli.migrating.report import report as write

    click.get_current_context().exit(write(state, output=output, output_format=output_format))


@click.command("open", short_help="Open waiting pull requests.")
@_STATE
@click.option("--max-open", type=click.IntRange(min=1), help="Limit of open pull requests (default: the plan's).")
@click.option("--max-hourly", type=click.IntRange(min=1), help="Limit of pull requests per hour (default: the plan's).")
@click.option("--retry-refused", is_flag=True, help="Try refused ones again.")
@_DRY_RUN
def open_command(state: str, max_open: int | None, max_hourly: int | None, retry_refused: bool, dry_run: bool) -> None:
    """Open the pull requests that wait because of the limits of their plan."""
    from devfix.cli.migrating.changes import open_changes

    code = open_changes(state, max_open=max_open, max_hourly=max_hourly, retry_refused=retry_refused, dry_run=dry_run)
    click.get_current_context().exit(code)


@click.command("merge", short_help="Merge pull requests whose checks passed.")
@_STATE
@click.option("--method", type=click.Choice(["merge", "squash", "rebase"]), default="squash", show_default=True)
@click.option("--unchecked", is_flag=True, help="Also without checks, or with failed ones.")
@_DRY_RUN
def merge(state: str, method: MergeMethod, unchecked: bool, dry_run: bool) -> None:
    """Merge the open pull requests whose checks passed, except drafts and those with requested changes."""
    from devfix.cli.migrating.changes import merge_changes

    click.get_current_context().exit(merge_changes(state, method=method, unchecked=unchecked, dry_run=dry_run))


@click.command("close", short_help="Close pull requests.")
@_STATE
@click.option("--comment", default="Closed: the migration was withdrawn.", show_default=True, metavar="TEXT")
@_DRY_RUN
def close(state: str, comment: str, dry_run: bool) -> None:
    """Close the open pull requests of a migration, with a comment, and delete their branches."""
    from devfix.cli.migrating.changes import close_changes

    click.get_current_context().exit(close_changes(state, comment=comment, dry_run=dry_run))


SUBCOMMANDS: dict[str, click.Command] = {
    each.name or "": each for each in (init, status, retry, report, open_command, merge, close)
}
for subcommand in SUBCOMMANDS.values():
    add_color_option(subcommand)
