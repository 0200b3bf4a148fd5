"""Implementation of ``devfix migrate``."""

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
    """Ctrl-C: finished repositories are kept."""

    exit_code = 130

    def __init__(self, progress: str) -> None:
        super().__init__(f"interrupted; {progress}; run the same command again to continue")


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
    runner = _engine(engine, scheduler)

    from devfix.migrate.plan import read_plan
    from devfix.migrate.run import Choice, Migration, exit_code, scratch_folder, select_tasks
    from devfix.migrate.state import State
    from devfix.migrate.task_entry import migrate
    from devfix.report.migrations.progress import show_progress, summary

    state_file = state or os.path.join(out, "state.sqlite")
    choice = Choice(resume, retry_failed, dry_run, limit, shard)
    tasks = select_tasks(read_plan(plan), choice, scratch_folder(state_file))
    if engine != "dask" and scheduler is None:  # a cluster's workers have separate tokens
        _check_can_propose(tasks)
    with _one_line_errors(), closing(State(state_file)) as open_state:
        migration = Migration(tasks, choice, open_state, out)
        writer = _record_writer(output_format, [task.number for task in tasks])
        records = migration.run(runner, migrate, jobs or 0)
        try:
            with (
                interruptible(),
                show_progress(migration.tally, scratch_folder(state_file), quiet > 0) as report_record,
                closing(records),
            ):
                for record in records:
                    report_record(record)
                    if writer is not None:
                        writer.write(record)
        except KeyboardInterrupt:
            raise Interrupted(summary(migration.tally)) from None
        finally:
            if writer is not None:
                writer.close()
        if report is not None:
            _write_report(report, migration, os.path.basename(plan))
    if not quiet:
        click.echo(_output_message(out, report), err=True)
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


def _output_message(out: str, report: str | None) -> str:
    patches = len(list(Path(out, "patches").glob("*.patch")))
    count = "1 patch" if patches == 1 else f"{patches} patches"
    message = f"{os.path.join(out, '')} contains {count} (git apply), records.jsonl and migrate.log"
    return message if report is None else f"{message}; the report is {report}"


def _engine(engine: str | None, scheduler: str | None) -> Engine:
    if scheduler is not None and engine == "local":
        raise click.UsageError("--scheduler is for --engine dask")
    if scheduler is not None or engine == "dask":
        from devfix.migrate.engines.dask import DaskEngine

        return DaskEngine(scheduler or "")
    from devfix.migrate.engines.local import LocalEngine, start_forkserver

    start_forkserver()
    return LocalEngine()


def _write_report(report: str, migration: Migration, plan: str) -> None:
    from devfix.report.migrations.page import page
    from devfix.sources import write_whole

    content = page(migration.records(), f"devfix migrate {plan}").encode("utf-8", "backslashreplace")
    try:
        write_whole(Path(report), [content])
    except OSError as error:
        raise CommandError(f"{report}: {error.strerror}") from error


def _record_writer(output_format: str, numbers: list[int]) -> _OrderedWriter | None:
    """Return the writer of records to standard output; None for text."""
    if output_format == "jsonl":
        return _OrderedWriter(numbers, lambda record: record.line() + "\n")
    if output_format == "sarif":
        from devfix.report.migrations import sarif as sarif

        return _OrderedWriter(numbers, sarif.run, sarif.opening(), sarif.BETWEEN, sarif.CLOSING)
    return None


class _OrderedWriter:
    """Write records to standard output in order, each as soon as all earlier ones are complete.

    Args:
        numbers: the numbers of the records, in order.
        render: returns a record as text.
        opening: text before the first record.
        between: text between two records.
        closing: text after the last record.

    """

    def __init__(
        self,
        numbers: list[int],
        render: Callable[[Record], str],
        opening: str = "",
        between: str = "",
        closing: str = "",
    ) -> None:
        self._render, self._between, self._closing = render, between, closing
        self._has_output = False
        sys.stdout.write(opening)
        self._numbers = iter(numbers)
        self._next = next(self._numbers, None)
        self._waiting: dict[int, str] = {}

    def write(self, record: Record) -> None:
        self._waiting[record.number] = self._render(record)
        while self._next in self._waiting:
            sys.stdout.write((self._between if self._has_output else "") + self._waiting.pop(self._next))
            self._has_output = True
            self._next = next(self._numbers, None)
        sys.stdout.flush()

    def close(self) -> None:
        """Write the closing text, even if records are missing."""
        sys.stdout.write(self._closing)
        sys.stdout.flush()


def write_plan(source: str, output: str) -> int:
    """Write a plan for the repositories of a folder or list; return the exit code."""
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
        raise CommandError(f"{output} already exists: choose another --output") from None
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}") from error
    click.echo(f"wrote {output}: edit it, then run devfix migrate {output}", err=True)
    return 0
