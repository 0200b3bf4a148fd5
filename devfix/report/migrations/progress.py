"""Progress of a migration: a live display on a terminal, and one line per repository."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from devfix.migrate.progress import active_tasks
from devfix.migrate.record import RepositoryOutcome
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from devfix.migrate.record import Record
    from devfix.migrate.run import Tally

__all__ = ["line", "show_progress", "summary"]

_STYLES = {
    RepositoryOutcome.FIXED: "bold green",
    RepositoryOutcome.CLEAN: "green",
    RepositoryOutcome.NOT_FIXED: "bold yellow",
    RepositoryOutcome.FAILED: "bold red",
}
_MAX_WORKERS = 24  # lines of the display; more would push the bar off the screen
_REFRESH_RATE = 8  # per second


def line(record: Record) -> str:
    """Return the result of one repository as one line."""
    stage = f" ({record.stage})" if record.outcome is RepositoryOutcome.FAILED else ""
    count = sum(finding["status"] == "fixed" for finding in record.findings) if record.patch else 0
    fixed = f", {count} fixed" if count else ""
    reason = f": {record.reason}" if record.reason else ""
    text = f"{record.outcome.value:9}{stage} {record.name} {record.commit[:10]} {record.seconds:.1f} s{fixed}{reason}"
    return printable(text.replace("\n", " "))


def summary(tally: Tally) -> str:
    """Return the totals of a migration as one line."""
    parts = [f"{tally.outcomes[outcome]} {outcome.value}" for outcome in RepositoryOutcome if tally.outcomes[outcome]]
    total = "1 repository" if tally.total == 1 else f"{tally.total} repositories"
    missing = tally.total - tally.done
    return ", ".join(
        [
            total,
            *parts,
            *([f"{missing} not reached"] if missing else []),
            *([f"{tally.reused} from earlier runs"] if tally.reused else []),
            *(f"{count} pull requests {state.value}" for state, count in sorted(tally.changes.items())),
        ]
    )


@contextmanager
def show_progress(
    tally: Tally, scratch: str, quiet: bool = False, *, to_stdout: bool = True
) -> Iterator[Callable[[Record], None]]:
    """Display progress on standard error; the yielded function prints the result of a finished repository.

    Args:
        tally: the counters, updated by the caller.
        scratch: the scratch directory of the workers.
        quiet: whether to print nothing.
        to_stdout: whether results go to standard output; else to standard error, because standard output has data.

    """
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    stream = sys.stdout if to_stdout else sys.stderr

    def print_line(record: Record) -> None:  # rich takes ten times as long
        print(line(record), file=stream, flush=True)

    if quiet:
        yield lambda record: None
    elif console.is_terminal and os.environ.get("TERM") != "dumb":
        with _live(console, tally, scratch) as print_above:
            yield print_above if stream.isatty() else print_line
    else:
        yield print_line


@contextmanager
def _live(console: Console, tally: Tally, scratch: str) -> Iterator[Callable[[Record], None]]:
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    bar = Progress(
        TextColumn("[bold]devfix migrate"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    task_id = bar.add_task("", total=tally.total, rate="")

    def render() -> RenderableType:
        task = bar.tasks[0]
        rate = f"{task.speed:.1f}/s" if task.speed else ""
        bar.update(task_id, completed=tally.done, rate=rate)
        return _display(bar, tally, scratch)

    with Live(get_renderable=render, console=console, refresh_per_second=_REFRESH_RATE, transient=True):

        def print_record(record: Record) -> None:
            if record.outcome in (RepositoryOutcome.FAILED, RepositoryOutcome.NOT_FIXED):
                console.print(Text(line(record), style=_STYLES[record.outcome]), soft_wrap=True)

        yield print_record


def _display(bar: RenderableType, tally: Tally, scratch: str) -> RenderableType:
    """Return the progress bar, the counters, and a line for each worker."""
    import time

    from rich.console import Group
    from rich.text import Text

    counters = Text("  ").join(
        Text(f"{tally.outcomes[outcome]} {outcome.value}", style=_STYLES[outcome]) for outcome in RepositoryOutcome
    )
    workers, now = active_tasks(scratch), time.time()
    lines = [
        Text(f"  {each.stage:9} {now - each.since:6.1f} s  {printable(each.name)}", style="dim", no_wrap=True)
        for each in workers[:_MAX_WORKERS]
    ]
    if len(workers) > _MAX_WORKERS:
        lines.append(Text(f"  and {len(workers) - _MAX_WORKERS} more", style="dim"))
    return Group(bar, counters, *lines)
