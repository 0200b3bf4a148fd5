"""What ``devfix migrate`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devfix.cli._errors import CommandError
from devfix.cli._interrupts import interruptible
from devfix.cli._output_pages import require_jinja2
from devfix.migrate.record import Record

if TYPE_CHECKING:
    from devfix.migrate.engines import Engine
    from devfix.migrate.run import Migration
    from devfix.migrate.task import Task

__all__ = ["run", "write_plan"]


class Interrupted(CommandError):
    """Ctrl-C: what is done is kept."""

    exit_code = 130

    def __init__(self, told: str) -> None:
        super().__init__(f"interrupted; {told}; the same command goes on from here")


@contextmanager
def _one_line_errors() -> Iterator[None]:
    from devfix.migrate.engines import EngineError
    from devfix.migrate.state import StateError

    try:
        yield
    except (EngineError, StateError) as error:
        raise CommandError(str(error)) from error


def run(
    *,
    plan: str,
    jobs: int | None,
    engine: str | None,
    scheduler: str | None,
    out: str,
    state: str | None,
    resume: bool,
    retry_failed: bool,
    dry_run: bool,
    limit: int | None,
    shard: tuple[int, int],
    fail_level: str,
    report: str | None,
    output_format: str,
    quiet: int,
    verbose: int,
) -> int:
    """Migrate, and return the exit code."""
    if report is not None:
        require_jinja2("--report")
    made = _engine(engine, scheduler)

    from devfix.migrate.plan import read_plan
    from devfix.migrate.run import Choice, Migration, chosen, exit_code, scratch_of
    from devfix.migrate.state import State
    from devfix.migrate.task_entry import migrate
    from devfix.report.migrations.progress import show_progress, summary

    file = state or os.path.join(out, "state.sqlite")
    choice = Choice(resume, retry_failed, dry_run, limit, shard)
    tasks = chosen(read_plan(plan), choice, scratch_of(file))
    if engine != "dask" and scheduler is None:  # workers elsewhere have tokens of their own
        _check_can_propose(tasks)
    with _one_line_errors(), closing(State(file)) as opened:
        migration = Migration(tasks, choice, opened, out)
        data = _data(output_format, [task.number for task in tasks])
        records = migration.run(made, migrate, jobs or 0)
        try:
            with interruptible(), show_progress(migration.tally, scratch_of(file), quiet > 0) as tell, closing(records):
                for record in records:
                    tell(record)
                    if data is not None:
                        data.put(record)
        except KeyboardInterrupt:
            raise Interrupted(summary(migration.tally)) from None
        finally:
            if data is not None:
                data.close()
        if report is not None:
            _write_report(report, migration, os.path.basename(plan))
    if not quiet:
        click.echo(_whereabouts(out, report), err=True)
    if quiet < 2:
        click.echo(summary(migration.tally), err=True)
    return exit_code(migration.tally, fail_level, dry_run)


def _check_can_propose(tasks: Sequence[Task]) -> None:
    sources = dict.fromkeys(task.source for task in tasks if task.publishing.kind == "pull-request")
    if not sources:
        return
    from devfix.bot.branches import check_can_propose
    from devfix.bot.skip_reasons import BotError
    from devfix.vcs.redaction import redacted

    for source in sources:
        try:
            check_can_propose(source)
        except BotError as error:
            raise CommandError(redacted(f'{source}: result = "pull-request": {error}')) from error


def _whereabouts(out: str, report: str | None) -> str:
    patches = len(list(Path(out, "patches").glob("*.patch")))
    told = "1 patch" if patches == 1 else f"{patches} patches"
    there = f"{os.path.join(out, '')} has {told} (git apply), records.jsonl and migrate.log"
    return there if report is None else f"{there}; {report} is the report"


def _engine(engine: str | None, scheduler: str | None) -> Engine:
    if scheduler is not None and engine == "local":
        raise click.UsageError("--scheduler is for --engine dask")
    if scheduler is not None or engine == "dask":
        from devfix.migrate.engines.dask import DaskEngine

        return DaskEngine(scheduler or "")
    from devfix.migrate.engines.local import LocalEngine, get_ready

    get_ready()
    return LocalEngine()


def _write_report(report: str, migration: Migration, plan: str) -> None:
    from devfix.report.migrations.page import page
    from devfix.sources import write_whole

    content = page(migration.records(), f"devfix migrate {plan}").encode("utf-8", "backslashreplace")
    try:
        write_whole(Path(report), [content])
    except OSError as error:
        raise CommandError(f"{report}: {error.strerror}") from error


def _data(output_format: str, numbers: list[int]) -> _Ordered | None:
    """What goes to standard output while records come; nothing for text."""
    if output_format == "jsonl":
        return _Ordered(numbers, lambda record: record.line() + "\n")
    if output_format == "sarif":
        from devfix.report.migrations import sarif as sarif

        return _Ordered(numbers, sarif.run, sarif.opening(), sarif.BETWEEN, sarif.CLOSING)
    return None


class _Ordered:
    """Records on standard output, each as soon as all those before it are there.

    Args:
        numbers: of the records, in their order.
        written: a record as text.
        opening: what stands ahead of the first one.
        between: what stands between two of them.
        closing: what stands behind the last one.

    """

    def __init__(
        self,
        numbers: list[int],
        written: Callable[[Record], str],
        opening: str = "",
        between: str = "",
        closing: str = "",
    ) -> None:
        self._written, self._between, self._closing = written, between, closing
        self._any = False
        sys.stdout.write(opening)
        self._numbers = iter(numbers)
        self._next = next(self._numbers, None)
        self._waiting: dict[int, str] = {}

    def put(self, record: Record) -> None:
        self._waiting[record.number] = self._written(record)
        while self._next in self._waiting:
            sys.stdout.write((self._between if self._any else "") + self._waiting.pop(self._next))
            self._any = True
            self._next = next(self._numbers, None)
        sys.stdout.flush()

    def close(self) -> None:
        """End what was begun, also where not all records came."""
        sys.stdout.write(self._closing)
        sys.stdout.flush()


def write_plan(source: str, output: str) -> int:
    """Write a plan for what a folder or a list holds."""
    from devfix.migrate.plan import read_plan
    from devfix.migrate.plan_template import template

    text = template(read_plan(source), "" if output == "-" else os.path.dirname(os.path.abspath(output)))
    if output == "-":
        sys.stdout.write(text)
        return 0
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{output} is there already: --output names another file") from None
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}") from error
    click.echo(f"{output} is written: look at it, then run devfix migrate {output}", err=True)
    return 0
