"""One migration: selection of tasks, reuse of earlier records, and output files."""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO

from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.disk import DISK_FULL
from devfix.migrate.engines import Engine
from devfix.migrate.mirrors import default_scratch
from devfix.migrate.proposing import Proposals
from devfix.migrate.record import Published, Record, RepositoryOutcome
from devfix.migrate.results import complete
from devfix.migrate.state import RESUME_HINT, Entry, State, StateError
from devfix.migrate.task import Task, Work
from devfix.sources import write_whole
from devfix.sources.digest import digest
from devfix.sources.removal import remove_tree

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
        results: where workers write complete records, as in :class:`devfix.migrate.task.Task`.

    """

    resume: bool = True
    retry_failed: bool = False
    dry_run: bool = False
    limit: int | None = None
    shard: tuple[int, int] = (1, 1)
    results: str = ""


@dataclass
class Tally:
    """The number of repositories by outcome, and of their pull requests by state."""

    total: int
    outcomes: Counter[RepositoryOutcome] = field(default_factory=Counter)
    reused: int = 0
    changes: Counter[ChangeState] = field(default_factory=Counter)  # pull requests
    failed_changes: int = 0  # that could not be opened, for another reason than a limit

    @property
    def done(self) -> int:
        """The number of finished repositories."""
        return self.outcomes.total()


def select_tasks(tasks: Sequence[Task], choice: Choice, scratch: str) -> list[Task]:
    """Return the tasks of this run, in the order of the plan."""
    index, parts = choice.shard
    selected = (task for task in tasks if parts == 1 or int(digest(task.repository)[:8], 16) % parts == index - 1)
    prepared = []
    for task in islice(selected, choice.limit):
        publishing = replace(task.publishing, kind="patch") if choice.dry_run else task.publishing
        prepared.append(replace(task, publishing=publishing, scratch=scratch, results=choice.results))
    return prepared


def scratch_folder(state: str) -> str:
    """Return the folder for the worktrees of the migration with this state file."""
    return os.path.join(default_scratch(), digest(os.path.realpath(state))[:12])


def exit_code(tally: Tally, fail_level: str, dry_run: bool = False) -> int:
    """Return the exit code.

    Args:
        tally: the outcomes.
        fail_level: 1 if ``any`` or ``all`` repositories are not fixed or failed, or ``any`` pull request could not
            be opened; ``none`` for always 0.
        dry_run: whether a repository with a patch counts as not fixed.

    """
    outcomes = [RepositoryOutcome.FAILED, RepositoryOutcome.NOT_FIXED, *([RepositoryOutcome.FIXED] if dry_run else [])]
    unfinished = sum(tally.outcomes[outcome] for outcome in outcomes)
    any_failed = unfinished > 0 or tally.failed_changes > 0
    return int({"none": False, "any": any_failed, "all": 0 < unfinished == tally.total}[fail_level])


class Migration:
    """A run over some tasks.

    Args:
        tasks: the result of :func:`select_tasks`.
        choice: the options.
        state: the records of earlier runs.
        out: the folder for patches, records and the log.
        proposals: opens pull requests; ``None`` to leave them waiting.

    """

    def __init__(
        self, tasks: Sequence[Task], choice: Choice, state: State, out: str, proposals: Proposals | None = None
    ) -> None:
        self._tasks = list(tasks)
        self._by_number = {task.number: task for task in self._tasks}
        self._choice = choice
        self._state = state
        self._out = Path(out)
        self._proposals = proposals
        self._reused: deque[tuple[Task, Entry]] = deque()
        self._patches: frozenset[str] = frozenset()  # files of earlier runs
        self._unreadable: list[Task] = []  # whose record is damaged or of another version: process them at the end
        self._finished: dict[int, Entry] = {}  # by number of the task
        self.tally = Tally(len(self._tasks))

    def run(self, engine: Engine, work: Work, jobs: int) -> Generator[Record, None, None]:
        """Process the pending tasks; yield each record once it is stored, and the reused records among them.

        Raises:
            StateError: another process uses the folder, or a file cannot be written, for example because the disk is
                full; stored records remain.
            devfix.migrate.engines.EngineError: the engine cannot run.

        """
        self._remove_worktrees()
        try:
            (self._out / PATCHES).mkdir(parents=True, exist_ok=True)
            with open(self._out / LOG, "a", encoding="utf-8") as log:
                self._lock(log)
                self._patches = frozenset(os.listdir(self._out / PATCHES))
                for record in self._records(engine, work, jobs):
                    log.write(_log_line(record))
                    yield record
                write_whole(self._out / RECORDS, (line + b"\n" for line in self._lines()))
        except OSError as error:
            raise StateError(f"{error.filename or self._out}: {error.strerror}; {RESUME_HINT}") from error
        finally:
            self._remove_worktrees()

    def _lock(self, log: IO[str]) -> None:
        """Lock the folder by its log until the log is closed: a run with another state would replace the files."""
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateError(
                f"{self._out} is in use by another devfix migrate: wait for it, or choose another --out"
            ) from None

    def _records(self, engine: Engine, work: Work, jobs: int) -> Iterator[Record]:
        tasks = self._pending()
        while True:
            results = engine.run(tasks, work, jobs)
            try:
                for record in results:
                    yield from self._take_reused()
                    yield from self._store(record)
                yield from self._take_reused()
            finally:
                close: Callable[[], None] | None = getattr(results, "close", None)
                if close is not None:
                    close()
            if not self._unreadable:
                return
            tasks, self._unreadable = iter(self._unreadable), []

    def _pending(self) -> Iterator[Task]:
        """Yield the tasks to process; collect the entries of the others for reuse."""
        for task in self._tasks:
            if not self._choice.resume:
                self._state.forget(task)
                yield task
                continue
            reusable = [entry for entry in self._state.entries(task) if self._is_reusable(entry)]
            done = tuple(entry.commit.decode("ascii") for entry in reusable if entry.commit)
            if reusable and (not reusable[0].commit or task.ref in done):
                self._reused.append((task, reusable[0]))
            else:
                yield replace(task, done_commits=done) if done else task

    def _is_reusable(self, entry: Entry) -> bool:
        return not (self._choice.retry_failed and entry.outcome is RepositoryOutcome.FAILED)

    def _take_reused(self) -> Iterator[Record]:
        while self._reused:
            yield from self._reuse(*self._reused.popleft())

    def _reuse(self, task: Task, entry: Entry) -> Iterator[Record]:
        """Yield the record of an entry, with the task's number and name; a task without a readable one waits."""
        record = self._state.record(entry)
        if record is not None:
            yield self._count(task, record, entry, reused=True)
            return
        self._state.forget(task)
        self._unreadable.append(task)

    def _store(self, record: Record) -> Iterator[Record]:
        task = self._by_number[record.number]
        if record.unchanged:
            commit = record.commit.encode("ascii")
            yield from self._reuse(task, next(each for each in self._state.entries(task) if each.commit == commit))
            return
        if record.outcome is RepositoryOutcome.FAILED and record.reason.startswith(DISK_FULL):
            raise StateError(f"{record.reason}; {RESUME_HINT}")
        yield self._count(task, record, None, reused=False)

    def _count(self, task: Task, record: Record, entry: Entry | None, reused: bool) -> Record:
        """Return the record with the task's number, name and patch file; store it if it is new or changed."""
        result = record
        if (record.number, record.name) != (task.number, task.name):
            result = replace(record, number=task.number, name=task.name)
        result = self._with_patch_file(result)
        known = () if entry is None else self._state.changes(entry)
        changes = self._changes(task, result, known)
        if entry is None or result != record or changes != known:
            entry = self._state.put(task, result, changes)
        for change in changes:
            if self._proposals is not None:
                entry, result, change = self._proposals.offer(entry, result, change)
            self.tally.changes[change.state] += 1
            self.tally.failed_changes += bool(change.reason) and change.state is not ChangeState.OPEN
        self._finished[task.number] = entry
        self.tally.outcomes[result.outcome] += 1
        self.tally.reused += reused
        return result

    def _changes(self, task: Task, record: Record, known: Sequence[Change]) -> tuple[Change, ...]:
        """Return the pull requests of a record: known ones, open ones of an earlier commit, or new ones.

        Open ones whose files need no fix any more are among them, so that they can be closed.
        """
        if task.publishing.kind != "pull-request":
            return ()
        earlier = [change for entry in self._state.entries(task) for change in self._state.changes(entry)]
        usable = {change.owners: change for change in reversed(earlier) if change.state is ChangeState.OPEN}
        usable.update({change.owners: change for change in known})
        found = {}
        for part in (record.parts or (None,)) if record.patch else ():
            fresh = Change.of(task, part)
            found[fresh.owners] = usable[fresh.owners].updated(fresh) if fresh.owners in usable else fresh
        rest = {owners: each for owners, each in usable.items() if each.state is ChangeState.OPEN}
        return tuple({**rest, **found}.values())

    def _with_patch_file(self, record: Record) -> Record:
        """Write the patch file, or remove the one of an earlier commit."""
        path = f"{PATCHES}/{record.name}.patch"
        if record.stored:
            return record
        if not record.patch:
            if f"{record.name}.patch" in self._patches:
                (self._out / path).unlink(missing_ok=True)
            return record
        content = record.patch.encode("utf-8", "surrogateescape")
        if not (self._out / path).is_file() or (self._out / path).read_bytes() != content:
            write_whole(self._out / path, [content], synced=False)  # the state contains it as well
        published = replace(record.published or Published("patch"), path=path)
        return record if published == record.published else replace(record, published=published)

    def records(self) -> Iterator[Record]:
        """Yield the complete records of a finished run, in the order of the plan."""
        for line in self._lines():
            yield complete(Record.from_line(line.decode("ascii")))

    def _lines(self) -> Iterator[bytes]:
        return (self._state.document(self._finished[task.number]) for task in self._tasks)

    def _remove_worktrees(self) -> None:
        """Remove the worktrees of killed workers; the state's lock excludes other processes."""
        for folder in {task.scratch for task in self._tasks}:
            remove_tree(folder)


def _log_line(record: Record) -> str:
    timestamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    result = f" in {record.stage}" if record.outcome is RepositoryOutcome.FAILED else ""
    reason = f": {record.reason}" if record.reason else ""
    line = (
        f"{timestamp} {record.outcome.value}{result} {record.name} {record.commit[:12]} {record.seconds:.1f} s{reason}"
    )
    return line.replace("\n", " ") + "\n"
