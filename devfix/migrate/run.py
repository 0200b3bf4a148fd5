"""One migration: what is left to do, who does it, and what is kept of it."""

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

__all__ = ["Choice", "Migration", "Tally", "chosen", "exit_code", "scratch_of"]

RECORDS = "records.jsonl"
PATCHES = "patches"
LOG = "migrate.log"


@dataclass(frozen=True)
class Choice:
    """Which repositories of a plan, and how far.

    Attributes:
        resume: records of earlier runs stand, where commit, settings and tool are the same.
        retry_failed: but those of repositories that failed do not.
        dry_run: patches are made, and no branch.
        limit: only so many repositories, the first ones; None for all.
        shard: ``(i, n)``: the i-th of n parts, from 1; each repository is in one of them.

    """

    resume: bool = True
    retry_failed: bool = False
    dry_run: bool = False
    limit: int | None = None
    shard: tuple[int, int] = (1, 1)


@dataclass
class Tally:
    """How many repositories ended how."""

    total: int
    outcomes: Counter[RepositoryOutcome] = field(default_factory=Counter)
    reused: int = 0

    @property
    def done(self) -> int:
        """How many are done."""
        return self.outcomes.total()


def chosen(tasks: Sequence[Task], choice: Choice, scratch: str) -> list[Task]:
    """The tasks of this run, in the order of the plan."""
    index, parts = choice.shard
    mine = [task for task in tasks if int(digest(task.repository)[:8], 16) % parts == index - 1]
    made = []
    for task in mine[: choice.limit]:
        publishing = replace(task.publishing, kind="patch") if choice.dry_run else task.publishing
        made.append(replace(task, publishing=publishing, scratch=scratch))
    return made


def scratch_of(state: str) -> str:
    """The folder for the worktrees of the migration with this state file."""
    return os.path.join(default_scratch(), digest(os.path.abspath(state))[:12])


def exit_code(tally: Tally, level: str, dry_run: bool = False) -> int:
    """1 where repositories are not done as ``level`` asks: ``any`` and ``all`` of them, or ``none`` for never.

    In a dry run a repository that would change is not done.
    """
    words = [RepositoryOutcome.FAILED, RepositoryOutcome.NOT_FIXED, *([RepositoryOutcome.FIXED] if dry_run else [])]
    undone = sum(tally.outcomes[word] for word in words)
    return int({"none": False, "any": undone > 0, "all": 0 < undone == tally.total}[level])


class Migration:
    """A run over some tasks.

    Args:
        tasks: of :func:`chosen`.
        choice: how far.
        state: what is done.
        out: the folder for patches, records and the log.

    """

    def __init__(self, tasks: Sequence[Task], choice: Choice, state: State, out: str) -> None:
        self._tasks = list(tasks)
        self._by_number = {task.number: task for task in self._tasks}
        self._choice = choice
        self._state = state
        self._out = Path(out)
        self._reused: list[Record] = []
        self._ended: dict[int, tuple[str, str]] = {}  # task → commit and outcome of its record
        self.tally = Tally(len(self._tasks))

    def run(self, engine: Engine, work: Work, jobs: int) -> Generator[Record, None, None]:
        """Do what is left; each record as soon as it is kept, and those that stand among them.

        Raises:
            StateError: something cannot be written, as on a full disk; what is done stays done.
            devfix.migrate.engines.EngineError: the engine cannot work.

        """
        self._tidy()
        try:
            (self._out / PATCHES).mkdir(parents=True, exist_ok=True)
            with open(self._out / LOG, "a", encoding="utf-8") as log:
                for record in self._records(engine, work, jobs):
                    log.write(_log_line(record))
                    yield record
            write_whole(self._out / RECORDS, (record.line().encode() + b"\n" for record in self.records()))
        except OSError as error:
            raise StateError(f"{error.filename or self._out}: {error.strerror}; {_STAYS}") from error
        finally:
            self._tidy()

    def _records(self, engine: Engine, work: Work, jobs: int) -> Iterator[Record]:
        fresh = engine.run(self._left(), work, jobs)
        try:
            for record in fresh:
                yield from self._standing()
                yield self._kept(record)
            yield from self._standing()
        finally:
            close: Callable[[], None] | None = getattr(fresh, "close", None)
            if close is not None:
                close()

    def _left(self) -> Iterator[Task]:
        """Tasks to be done; the records of the others are put aside."""
        for task in self._tasks:
            if not self._choice.resume:
                self._state.forget(task)
                yield task
                continue
            stand = [record for record in self._state.records(task) if self._stands(record)]
            done = tuple(record.commit for record in stand if record.commit)
            if stand and (not stand[0].commit or task.ref in done):
                self._reused.append(replace(stand[0], number=task.number))
            else:
                yield replace(task, done=done)

    def _stands(self, record: Record) -> bool:
        return not (self._choice.retry_failed and record.outcome is RepositoryOutcome.FAILED)

    def _standing(self) -> Iterator[Record]:
        while self._reused:
            record = self._reused.pop(0)
            yield self._counted(self._by_number[record.number], record, reused=True)

    def _kept(self, record: Record) -> Record:
        task = self._by_number[record.number]
        if record.unchanged:
            earlier = next(each for each in self._state.records(task) if each.commit == record.commit)
            return self._counted(task, earlier, reused=True)
        if record.outcome is RepositoryOutcome.FAILED and "No space left on device" in record.reason + record.log:
            raise StateError(f"the disk is full ({record.reason}); {_STAYS}")
        return self._counted(task, record, reused=False)

    def _counted(self, task: Task, record: Record, reused: bool) -> Record:
        """The record under the task's number and name, with its patch file; kept where it is new or told anew."""
        told = replace(record, number=task.number, name=task.name)
        told = replace(told, published=self._patch(told))
        if not reused or told != record:
            self._state.put(task, told)
        self._ended[task.number] = (told.commit, told.outcome.value)
        self.tally.outcomes[told.outcome] += 1
        self.tally.reused += reused
        return told

    def _patch(self, record: Record) -> Published | None:
        """Write the patch file, or remove one of an earlier commit."""
        path = f"{PATCHES}/{record.name}.patch"
        if not record.patch:
            (self._out / path).unlink(missing_ok=True)
            return record.published
        content = record.patch.encode("utf-8", "surrogateescape")
        if not (self._out / path).is_file() or (self._out / path).read_bytes() != content:
            write_whole(self._out / path, [content], synced=False)  # the state has it, too
        return replace(record.published or Published("patch"), path=path)

    def records(self) -> Iterator[Record]:
        """The records of a run that has ended, in the order of the plan, read one by one."""
        for task in self._tasks:
            ended = self._ended[task.number]
            yield next(each for each in self._state.records(task) if (each.commit, each.outcome.value) == ended)

    def _tidy(self) -> None:
        """Remove what workers left that were killed: the state's lock says that nobody else works here."""
        for folder in {task.scratch for task in self._tasks}:
            shutil.rmtree(folder, ignore_errors=True)


_STAYS = "make room, and start again: what is done stays done"


def _log_line(record: Record) -> str:
    when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    told = f" in {record.stage}" if record.outcome is RepositoryOutcome.FAILED else ""
    reason = f": {record.reason}" if record.reason else ""
    line = f"{when} {record.outcome.value}{told} {record.name} {record.commit[:12]} {record.seconds:.1f} s{reason}"
    return line.replace("\n", " ") + "\n"
