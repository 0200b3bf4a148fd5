"""One migration: selection of tasks, reuse of earlier records, and output files."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from devfix.migrate.engines import Engine
from devfix.migrate.mirrors import default_scratch
from devfix.migrate.record import Published, Record, RepositoryOutcome
from devfix.migrate.state import State, StateError
from devfix.migrate.task import Task, Work
from devfix.sources import write_whole
from devfix.sources.digest import digest

__all__ = ["Choice", "Migration", "Tally", "exit_code", "scratch_folder", "select_tasks"]

RECORDS = "records.jsonl"
PATCHES = "patches"
LOG = "migrate.log"


@dataclass(frozen=True)
class Choice:
    """The repositories to process, and how.

    Attributes:
        resume: whether to reuse earlier records for the same commit, settings and version.
        retry_failed: whether to process failed repositories again.
        dry_run: whether to create patches but no branches.
        limit: the maximum number of repositories, from the first; None for all.
        shard: ``(i, n)``: the i-th of n disjoint parts, from 1.

    """

    resume: bool = True
    retry_failed: bool = False
    dry_run: bool = False
    limit: int | None = None
    shard: tuple[int, int] = (1, 1)


@dataclass
class Tally:
    """The number of repositories by outcome."""

    total: int
    outcomes: Counter[RepositoryOutcome] = field(default_factory=Counter)
    reused: int = 0

    @property
    def done(self) -> int:
        """The number of finished repositories."""
        return self.outcomes.total()


def select_tasks(tasks: Sequence[Task], choice: Choice, scratch: str) -> list[Task]:
    """Return the tasks of this run, in the order of the plan."""
    index, parts = choice.shard
    selected = [task for task in tasks if int(digest(task.repository)[:8], 16) % parts == index - 1]
    prepared = []
    for task in selected[: choice.limit]:
        publishing = replace(task.publishing, kind="patch") if choice.dry_run else task.publishing
        prepared.append(replace(task, publishing=publishing, scratch=scratch))
    return prepared


def scratch_folder(state: str) -> str:
    """Return the folder for the worktrees of the migration with this state file."""
    return os.path.join(default_scratch(), digest(os.path.abspath(state))[:12])


def exit_code(tally: Tally, fail_level: str, dry_run: bool = False) -> int:
    """Return the exit code.

    Args:
        tally: the outcomes.
        fail_level: 1 if ``any`` or ``all`` repositories are not fixed or failed; ``none`` for always 0.
        dry_run: whether a repository with a patch counts as not fixed.

    """
    outcomes = [RepositoryOutcome.FAILED, RepositoryOutcome.NOT_FIXED, *([RepositoryOutcome.FIXED] if dry_run else [])]
    unfinished = sum(tally.outcomes[outcome] for outcome in outcomes)
    return int({"none": False, "any": unfinished > 0, "all": 0 < unfinished == tally.total}[fail_level])


class Migration:
    """A run over some tasks.

    Args:
        tasks: the result of :func:`select_tasks`.
        choice: the options.
        state: the records of earlier runs.
        out: the folder for patches, records and the log.

    """

    def __init__(self, tasks: Sequence[Task], choice: Choice, state: State, out: str) -> None:
        self._tasks = list(tasks)
        self._by_number = {task.number: task for task in self._tasks}
        self._choice = choice
        self._state = state
        self._out = Path(out)
        self._reused: list[Record] = []
        self._finished: dict[int, tuple[str, str]] = {}  # task → commit and outcome of its record
        self.tally = Tally(len(self._tasks))

    def run(self, engine: Engine, work: Work, jobs: int) -> Generator[Record, None, None]:
        """Process the pending tasks; yield each record once it is stored, and the reused records among them.

        Raises:
            StateError: a file cannot be written, for example because the disk is full; stored records remain.
            devfix.migrate.engines.EngineError: the engine cannot run.

        """
        self._remove_worktrees()
        try:
            (self._out / PATCHES).mkdir(parents=True, exist_ok=True)
            with open(self._out / LOG, "a", encoding="utf-8") as log:
                for record in self._records(engine, work, jobs):
                    log.write(_log_line(record))
                    yield record
            write_whole(self._out / RECORDS, (record.line().encode() + b"\n" for record in self.records()))
        except OSError as error:
            raise StateError(f"{error.filename or self._out}: {error.strerror}; {_RESUME_HINT}") from error
        finally:
            self._remove_worktrees()

    def _records(self, engine: Engine, work: Work, jobs: int) -> Iterator[Record]:
        results = engine.run(self._pending(), work, jobs)
        try:
            for record in results:
                yield from self._take_reused()
                yield self._store(record)
            yield from self._take_reused()
        finally:
            close: Callable[[], None] | None = getattr(results, "close", None)
            if close is not None:
                close()

    def _pending(self) -> Iterator[Task]:
        """Yield the tasks to process; collect the records of the others for reuse."""
        for task in self._tasks:
            if not self._choice.resume:
                self._state.forget(task)
                yield task
                continue
            reusable = [record for record in self._state.records(task) if self._is_reusable(record)]
            done = tuple(record.commit for record in reusable if record.commit)
            if reusable and (not reusable[0].commit or task.ref in done):
                self._reused.append(replace(reusable[0], number=task.number))
            else:
                yield replace(task, done_commits=done)

    def _is_reusable(self, record: Record) -> bool:
        return not (self._choice.retry_failed and record.outcome is RepositoryOutcome.FAILED)

    def _take_reused(self) -> Iterator[Record]:
        while self._reused:
            record = self._reused.pop(0)
            yield self._count(self._by_number[record.number], record, reused=True)

    def _store(self, record: Record) -> Record:
        task = self._by_number[record.number]
        if record.unchanged:
            earlier = next(each for each in self._state.records(task) if each.commit == record.commit)
            return self._count(task, earlier, reused=True)
        if record.outcome is RepositoryOutcome.FAILED and "No space left on device" in record.reason + record.log:
            raise StateError(f"the disk is full ({record.reason}); {_RESUME_HINT}")
        return self._count(task, record, reused=False)

    def _count(self, task: Task, record: Record, reused: bool) -> Record:
        """Return the record with the task's number, name and patch file; store it if it is new or changed."""
        result = replace(record, number=task.number, name=task.name)
        result = replace(result, published=self._patch(result))
        if not reused or result != record:
            self._state.put(task, result)
        self._finished[task.number] = (result.commit, result.outcome.value)
        self.tally.outcomes[result.outcome] += 1
        self.tally.reused += reused
        return result

    def _patch(self, record: Record) -> Published | None:
        """Write the patch file, or remove the one of an earlier commit."""
        path = f"{PATCHES}/{record.name}.patch"
        if not record.patch:
            (self._out / path).unlink(missing_ok=True)
            return record.published
        content = record.patch.encode("utf-8", "surrogateescape")
        if not (self._out / path).is_file() or (self._out / path).read_bytes() != content:
            write_whole(self._out / path, [content], synced=False)  # the state contains it as well
        return replace(record.published or Published("patch"), path=path)

    def records(self) -> Iterator[Record]:
        """Yield the records of a finished run, in the order of the plan."""
        for task in self._tasks:
            finished = self._finished[task.number]
            yield next(each for each in self._state.records(task) if (each.commit, each.outcome.value) == finished)

    def _remove_worktrees(self) -> None:
        """Remove the worktrees of killed workers; the state's lock excludes other processes."""
        for folder in {task.scratch for task in self._tasks}:
            shutil.rmtree(folder, ignore_errors=True)


_RESUME_HINT = "free some space and run the same command again; finished repositories are kept"


def _log_line(record: Record) -> str:
    timestamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    result = f" in {record.stage}" if record.outcome is RepositoryOutcome.FAILED else ""
    reason = f": {record.reason}" if record.reason else ""
    line = (
        f"{timestamp} {record.outcome.value}{result} {record.name} {record.commit[:12]} {record.seconds:.1f} s{reason}"
    )
    return line.replace("\n", " ") + "\n"
