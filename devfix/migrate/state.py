"""What is done, in one SQLite file that survives a kill at any moment.

One row per repository, sub-folder, commit, settings and tool version.  A row is written in one transaction when its
repository is done, and survives the end of this process however it comes.  SQLite's write-ahead log is synced once a
second: a machine that loses its power loses the rows of that second, and no more (https://sqlite.org/wal.html).
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devfix.migrate.record import Record
from devfix.migrate.task import Task

__all__ = ["State", "StateError"]

_VERSION = 1
_SYNCED = 1.0  # seconds between syncs of what was written
_TABLE = """
CREATE TABLE IF NOT EXISTS repositories (
    repository TEXT NOT NULL,
    folder TEXT NOT NULL,
    "commit" TEXT NOT NULL,  -- empty where it did not come to one
    settings TEXT NOT NULL,  -- digest of what decides on the result
    tool TEXT NOT NULL,      -- digest of the code
    stage TEXT NOT NULL,     -- the last one that was entered
    outcome TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished REAL NOT NULL,  -- seconds since 1970
    record TEXT NOT NULL,    -- the evidence: schema/record-2.json
    PRIMARY KEY (repository, folder, "commit", settings, tool)
) WITHOUT ROWID
"""
_SAME = "repository = ? AND folder = ? AND settings = ? AND tool = ?"


class StateError(Exception):
    """The file cannot be used: the message says why, and what to do."""


class State:
    """The file of one migration; one process at a time writes to it.

    Raises:
        StateError: it cannot be opened, is of another version, or another process has it.

    """

    def __init__(self, path: str) -> None:
        self.path = path
        with self._told():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._only_us()
            self._connection = sqlite3.connect(path, timeout=10.0)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._synced = 0.0
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise StateError(
                    f"{path} is of version {version}, and this devfix writes {_VERSION}: name another --state"
                )
            with self._connection:
                self._connection.execute(_TABLE)
                self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _only_us(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateError(
                f"{self.path} is in use by another devfix migrate: wait for it, or name another --state"
            ) from None

    def put(self, task: Task, record: Record) -> None:
        """Keep a record; an earlier one for the same commit and settings goes, and one that came to no commit.

        Raises:
            StateError: it cannot be written.

        """
        row = (
            *(task.repository, task.folder, record.commit, task.settings_key, task.tool_key, record.stage),
            *(record.outcome.value, record.seconds, time.time(), record.line()),
        )
        now = time.monotonic()
        with self._told():
            late = now - self._synced >= _SYNCED
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if late else 'NORMAL'}")
            self._synced = now if late else self._synced
        with self._told(), self._connection:
            self._connection.execute(f"DELETE FROM repositories WHERE {_SAME} AND \"commit\" = ''", _key(task))
            self._connection.execute(f"INSERT OR REPLACE INTO repositories VALUES ({','.join('?' * len(row))})", row)

    def records(self, task: Task) -> list[Record]:
        """What was recorded with the task's settings and this tool, the latest first."""
        question = f"SELECT record FROM repositories WHERE {_SAME} ORDER BY finished DESC"
        with self._told():
            return [Record.read(line) for (line,) in self._connection.execute(question, _key(task))]

    def forget(self, task: Task) -> None:
        """Forget what was recorded with the task's settings."""
        with self._told(), self._connection:
            self._connection.execute(f"DELETE FROM repositories WHERE {_SAME}", _key(task))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        os.close(self._lock)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StateError(f"{error.filename or self.path}: {error.strerror}") from error
        except sqlite3.Error as error:
            full = "full" in str(error) or "disk I/O" in str(error)
            advice = "make room, and start again: what is done stays done" if full else "--state names another file"
            raise StateError(f"{self.path} cannot be used ({error}): {advice}") from error


def _key(task: Task) -> tuple[str, str, str, str]:
    return task.repository, task.folder, task.settings_key, task.tool_key
