"""A migration for people while it runs: bars on a terminal, one line per repository elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from devfix.migrate.progress import working
from devfix.migrate.record import RepositoryOutcome
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from devfix.migrate.record import Record
    from devfix.migrate.run import Tally

__all__ = ["line", "summary", "watched"]

_STYLES = {
    RepositoryOutcome.FIXED: "bold green",
    RepositoryOutcome.CLEAN: "green",
    RepositoryOutcome.NOT_FIXED: "bold yellow",
    RepositoryOutcome.FAILED: "bold red",
}
_MOST_WORKERS = 24  # lines; more would push the bar off the screen
_A_SECOND = 8  # refreshes


def line(record: Record) -> str:
    """One repository in one line."""
    stage = f" ({record.stage})" if record.outcome is RepositoryOutcome.FAILED else ""
    many = sum(finding["status"] == "fixed" for finding in record.findings) if record.patch else 0
    repaired = f", {many} fixed" if many else ""
    reason = f": {record.reason}" if record.reason else ""
    told = (
        f"{record.outcome.value:9}{stage} {record.name} {record.commit[:10]} {record.seconds:.1f} s{repaired}{reason}"
    )
    return printable(told.replace("\n", " "))


def summary(tally: Tally) -> str:
    """The whole migration in one line."""
    parts = [f"{tally.outcomes[word]} {word.value}" for word in RepositoryOutcome if tally.outcomes[word]]
    total = "1 repository" if tally.total == 1 else f"{tally.total} repositories"
    missing = tally.total - tally.done
    return ", ".join(
        [
            total,
            *parts,
            *([f"{missing} not reached"] if missing else []),
            *([f"{tally.reused} from earlier runs"] if tally.reused else []),
        ]
    )


@contextmanager
def watched(tally: Tally, scratch: str, quiet: bool = False) -> Iterator[Callable[[Record], None]]:
    """What to tell of each record, while workers are watched.

    Args:
        tally: what is counted elsewhere.
        scratch: the folder of the workers.
        quiet: tell nothing.

    """
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda record: None
    elif console.is_terminal and os.environ.get("TERM") != "dumb":
        with _live(console, tally, scratch) as tell:
            yield tell
    else:
        yield lambda record: console.print(line(record), soft_wrap=True, markup=False)


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
    whole = bar.add_task("", total=tally.total, rate="")

    def shown() -> RenderableType:
        task = bar.tasks[0]
        rate = f"{task.speed:.1f}/s" if task.speed else ""
        bar.update(whole, completed=tally.done, rate=rate)
        return _picture(bar, tally, scratch)

    with Live(get_renderable=shown, console=console, refresh_per_second=_A_SECOND, transient=True):

        def tell(record: Record) -> None:
            if record.outcome in (RepositoryOutcome.FAILED, RepositoryOutcome.NOT_FIXED):
                console.print(Text(line(record), style=_STYLES[record.outcome]), soft_wrap=True)

        yield tell


def _picture(bar: RenderableType, tally: Tally, scratch: str) -> RenderableType:
    """The bar, the counters, and a line for each worker."""
    import time

    from rich.console import Group
    from rich.text import Text

    counters = Text("  ").join(
        Text(f"{tally.outcomes[word]} {word.value}", style=_STYLES[word]) for word in RepositoryOutcome
    )
    at, now = working(scratch), time.time()
    lines = [
        Text(f"  {each.stage:9} {now - each.since:6.1f} s  {printable(each.name)}", style="dim", no_wrap=True)
        for each in at[:_MOST_WORKERS]
    ]
    if len(at) > _MOST_WORKERS:
        lines.append(Text(f"  and {len(at) - _MOST_WORKERS} more", style="dim"))
    return Group(bar, counters, *lines)
