"""``devfix migrate PLAN``, and ``devfix migrate retry``, which repeats failed repositories of the last run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from devfix.cli._errors import CommandError
from devfix.cli._interrupts import interruptible
from devfix.cli._output_pages import require_jinja2
from devfix.cli.migrating.states import STATE_FILE, loaded_forges, one_line_errors, opened, warn_of_damage, write_report
from devfix.migrate.proposing import ForgeError, Forges, Proposals
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.vcs.redaction import redacted

if TYPE_CHECKING:
    from devfix.migrate.engines import Engine
    from devfix.migrate.state import State
    from devfix.migrate.task import Task

__all__ = ["Options", "retry", "run"]


class Interrupted(CommandError):
    """Ctrl-C: finished repositories are kept."""

    exit_code = 130

    def __init__(self, progress: str) -> None:
        super().__init__(f"interrupted; {progress}; run the same command again to continue")


@dataclass(frozen=True)
class Options:
    """The options of ``devfix migrate PLAN``, as on its command line; ``plan`` and ``out`` are paths."""

    plan: str
    out: str
    state: str | None = None
    jobs: int | None = None
    engine: str | None = None
    scheduler: str | None = None
    resume: bool = True
    retry_failed: bool = False
    dry_run: bool = False
    limit: int | None = None
    shard: tuple[int, int] = (1, 1)
    results: str | None = None
    fail_level: str = "any"
    report: str | None = None
    output_format: str = "text"
    quiet: int = 0
    verbose: int = 0

    @property
    def state_file(self) -> str:
        """The path of the state."""
        return self.state or os.path.join(self.out, STATE_FILE)

    def to_document(self) -> dict[str, Any]:
        """Return what a later command needs, with absolute paths."""
        kept = ("jobs", "engine", "scheduler", "dry_run", "limit", "shard", "results")
        return {
            "plan": os.path.abspath(self.plan),
            "out": os.path.abspath(self.out),
            **{name: getattr(self, name) for name in kept},
        }


def run(options: Options) -> int:
    """Migrate, and return the exit code."""
    if options.report is not None:
        require_jinja2("--report")
    runner = _engine(options.engine, options.scheduler)

    from devfix.migrate.plan import read_plan
    from devfix.migrate.run import Choice, Migration, exit_code, scratch_folder, select_tasks
    from devfix.migrate.state import State
    from devfix.migrate.task_entry import migrate
    from devfix.report.migrations.progress import show_progress, summary

    state_file = options.state_file
    results = _results(options.results)
    choice = Choice(options.resume, options.retry_failed, options.dry_run, options.limit, options.shard, results)
    tasks = select_tasks(read_plan(options.plan), choice, scratch_folder(state_file))
    forges = _checked_forges(tasks)
    with one_line_errors(), closing(State(state_file)) as state:
        warn_of_damage(state)
        state.note_run({**options.to_document(), "tasks": len(tasks), "started": time.time(), **_limits(tasks)})
        proposals = None if forges is None else Proposals(state, forges, tasks[0].publishing.limits)
        migration = Migration(tasks, choice, state, options.out, proposals)
        writer = _record_writer(options.output_format, [task.number for task in tasks])
        records = migration.run(runner, migrate, options.jobs or 0)
        try:
            with (
                interruptible(),
                show_progress(
                    migration.tally, scratch_folder(state_file), options.quiet > 0, to_stdout=writer is None
                ) as report_record,
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
        if options.report is not None:
            write_report(options.report, migration.records(), os.path.basename(options.plan))
    if not options.quiet:
        click.echo(_output_message(options.out, options.report), err=True)
    if options.quiet < 2:
        click.echo(summary(migration.tally), err=writer is not None)
        if proposals is not None and proposals.stopped:
            click.echo(f"{proposals.stopped}: devfix migrate open {options.out} opens the others", err=True)
    return exit_code(migration.tally, options.fail_level, options.dry_run)


def _results(given: str | None) -> str:
    """Return the URL for records; a path becomes absolute."""
    if given is None:
        return ""
    if find_spec("fsspec") is None:
        raise CommandError("--results requires fsspec: pip install 'devfix[dask]'")
    return given if "://" in given else os.path.abspath(given)


def _limits(tasks: Sequence[Task]) -> dict[str, int]:
    return asdict(tasks[0].publishing.limits) if tasks else {}


def _checked_forges(tasks: Sequence[Task]) -> Forges | None:
    """Return the forges of pull requests, after a check that there are tokens; ``None`` if there are none to open."""
    sources = dict.fromkeys(task.source for task in tasks if task.publishing.kind == "pull-request")
    if not sources:
        return None
    forges = loaded_forges()
    for source in sources:
        try:
            forges.check(source)
        except ForgeError as error:
            raise CommandError(redacted(f'{source}: result = "pull-request": {error}')) from error
    return forges


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


def retry(given: str, *, stages: Sequence[str], text: str, jobs: int | None) -> int:
    """Run the last plan again and repeat its failed repositories; return the exit code."""
    with opened(given, writable=True) as state:
        last = dict(state.run)
        plan, out = last.get("plan"), last.get("out")
        if not isinstance(plan, str) or not isinstance(out, str):
            raise CommandError(f"{state.path} does not name a plan: run devfix migrate PLAN --retry-failed")
        kept = _forget_failed(state, stages, text)
        path = state.path
    if not kept:
        click.echo("no failed repository matches: nothing to do", err=True)
        return 0
    options = Options(
        plan=plan,
        out=out,
        state=path,
        jobs=jobs or last.get("jobs"),
        engine=last.get("engine"),
        scheduler=last.get("scheduler"),
        dry_run=bool(last.get("dry_run")),
        limit=last.get("limit"),
        shard=tuple(last.get("shard", (1, 1))),
        results=last.get("results"),
    )
    return run(options)


def _forget_failed(state: State, stages: Sequence[str], text: str) -> int:
    """Forget the failed repositories of these stages, or all, whose reason or name contains a text."""
    count = 0
    for entry in state.latest():
        record = state.record(entry) if entry.outcome is RepositoryOutcome.FAILED else None
        if record is None or (stages and record.stage not in stages):
            continue
        if text.lower() in f"{record.name} {record.repository} {record.reason}".lower():
            state.forget_entry(entry)
            count += 1
    return count
