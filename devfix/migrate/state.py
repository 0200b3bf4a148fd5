"""The state of a migration: one SQLite file that survives a kill at any moment.

It has one row per repository, sub-folder, commit, settings and version of devfix, written in one transaction when the
repository is done.  SQLite's write-ahead log is synced once a second: after a power failure, at most the rows of the
last second are lost (https://sqlite.org/wal.html).
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
_SYNC_INTERVAL_S = 1.0
_TABLE = """
CREATE TABLE IF NOT EXISTS repositories (
    repository TEXT NOT NULL,
    folder TEXT NOT NULL,
    "commit" TEXT NOT NULL,  -- empty if there was none
    settings TEXT NOT NULL,  -- digest of the settings that affect the result
    tool TEXT NOT NULL,      -- digest of the code
    stage TEXT NOT NULL,     -- the last one
    outcome TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished REAL NOT NULL,  -- seconds since 1970
    record TEXT NOT NULL,    -- schema/record-2.json
    PRIMARY KEY (repository, folder, "commit", settings, tool)
) WITHOUT ROWID
"""
_SAME_SETTINGS = "repository = ? AND folder = ? AND settings = ? AND tool = ?"


class StateError(Exception):
    """The file cannot be used; the message says why and what to do."""


class State:
    """The state file of one migration; only one process may open it.

    Raises:
        StateError: the file cannot be opened, has another version, or is in use by another process.

    """

    def __init__(self, path: str) -> None:
        self.path = path
        with self._translate_errors():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._acquire_lock()
            self._connection = sqlite3.connect(path, timeout=10.0)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._synced = 0.0
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise StateError(
                    f"{path} has version {version}, but this devfix writes version {_VERSION}: choose another --state"
                )
            with self._connection:
                self._connection.execute(_TABLE)
                self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _acquire_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateError(
                f"{self.path} is in use by another devfix migrate: wait for it, or choose another --state"
            ) from None

    def put(self, task: Task, record: Record) -> None:
        """Store a record; replace earlier ones for the same commit and settings, and those without a commit.

        Raises:
            StateError: the file cannot be written.

        """
        row = (
            *(task.repository, task.folder, record.commit, task.settings_key, task.tool_key, record.stage),
            *(record.outcome.value, record.seconds, time.time(), record.line()),
        )
        now = time.monotonic()
        with self._translate_errors():
            is_due = now - self._synced >= _SYNC_INTERVAL_S
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if is_due else 'NORMAL'}")
            self._synced = now if is_due else self._synced
        with self._translate_errors(), self._connection:
            self._connection.execute(f"DELETE FROM repositories WHERE {_SAME_SETTINGS} AND \"commit\" = ''", _key(task))
            self._connection.execute(f"INSERT OR REPLACE INTO repositories VALUES ({','.join('?' * len(row))})", row)

    def records(self, task: Task) -> list[Record]:
        """Return the records with the task's settings and this version of devfix, the latest first."""
        query = f"SELECT record FROM repositories WHERE {_SAME_SETTINGS} ORDER BY finished DESC"
        with self._translate_errors():
            return [Record.from_line(line) for (line,) in self._connection.execute(query, _key(task))]

    def forget(self, task: Task) -> None:
        """Delete the records with the task's settings."""
        with self._translate_errors(), self._connection:
            self._connection.execute(f"DELETE FROM repositories WHERE {_SAME_SETTINGS}", _key(task))

    def close(self) -> None:
        """Close the file and release its lock."""
        self._connection.close()
        os.close(self._lock)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StateError(f"{error.filename or self.path}: {error.strerror}") from error
        except sqlite3.Error as error:
            is_full = "full" in str(error) or "disk I/O" in str(error)
            advice = (
                "free some space and run the same command again; finished repositories are kept"
                if is_full
                else "choose another --state"
            )
            raise StateError(f"{self.path} cannot be used ({error}): {advice}") from error


def _key(task: Task) -> tuple[str, str, str, str]:
    return task.repository, task.folder, task.settings_key, task.tool_key
