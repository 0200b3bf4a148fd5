"""The results of earlier scans: text by key, in one SQLite file of the user's cache folder.

Writes are atomic, and runs may overlap (SQLite locks the file).  Entries that were not used for a month are deleted,
and so are the oldest beyond :data:`MOST_ENTRIES`.  An unusable cache is not an error: scans run again, and a note
reports why.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from zlib import compress, decompress
from zlib import error as zlib_error

from devfix.rules.builtin import code_folders
from devfix.sources.digest import digest

__all__ = ["MOST_ENTRIES", "Cache", "MemoryCache", "tool_version"]

MOST_ENTRIES = 50_000
_KEPT_DAYS = 30
_FILE = "scans-1.sqlite"
_SECONDS_A_DAY = 86_400
_PATIENCE = 0.2  # seconds to wait for a concurrent write
#: Packages that no result of a scan depends on.
_OTHER_LAYERS = frozenset(
    {"__pycache__", "bot", "cli", "init", "lsp", "migrate", "report", "schema", "simulator", "trace", "vcs", "verify"}
)
_AT_ONCE = 500  # SQLite allows 999 values per query


@lru_cache(maxsize=1)
def tool_version() -> str:
    """Return a name for this version of devfix and Python; results of another one are not reused."""
    import devfix

    parts = [devfix.__version__, sys.version]
    for folder in code_folders():
        for current, inside, names in os.walk(folder):
            inside[:] = sorted(name for name in inside if name not in _OTHER_LAYERS)
            for name in sorted(names):
                if name.endswith((".py", ".json", ".pyi", ".toml")):
                    status = os.stat(os.path.join(current, name))
                    parts.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return digest(*parts)


class Cache:
    """A key-value store for text.  ``problem`` says why it cannot be used; it is empty if it can."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.problem = ""
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the stored values of some keys."""
        connection = self._open()
        if connection is None:
            return {}
        found: dict[str, str] = {}
        wanted, today = list(keys), _today()
        try:
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, value, used FROM scans WHERE key IN ({marks})", part).fetchall()
                found.update((key, _unpacked(value)) for key, value, _ in rows)
                old = [(today, key) for key, _, used in rows if used != today]
                if old:
                    with connection:
                        connection.executemany("UPDATE scans SET used = ? WHERE key = ?", old)
        except sqlite3.Error as error:
            self._give_up(error)
        return found

    def put(self, values: Mapping[str, str]) -> None:
        """Store values, and delete old entries."""
        connection = self._open() if values else None
        if connection is None:
            return
        today = _today()
        try:
            with connection:
                rows = [(key, _packed(value), today) for key, value in values.items()]
                connection.executemany("INSERT OR REPLACE INTO scans VALUES (?, ?, ?)", rows)
                connection.execute("DELETE FROM scans WHERE used < ?", (today - _KEPT_DAYS,))
                newest = "SELECT rowid FROM scans ORDER BY used DESC, rowid DESC LIMIT -1 OFFSET ?"
                connection.execute(f"DELETE FROM scans WHERE rowid IN ({newest})", (MOST_ENTRIES,))
        except sqlite3.Error as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is None and not self.problem:
            try:
                os.makedirs(self.folder, mode=0o700, exist_ok=True)
                self._connection = sqlite3.connect(os.path.join(self.folder, _FILE), timeout=_PATIENCE)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS scans (key TEXT PRIMARY KEY, value BLOB, used INT)"
                )
            except (OSError, sqlite3.Error) as error:
                self._give_up(error)
        return self._connection

    def _give_up(self, error: Exception) -> None:
        self.close()
        self.problem = f"cannot be used ({error})"


class MemoryCache(Cache):
    """The same in memory, for two runs on the same files in one process; it also keeps the scans between edits."""

    def __init__(self) -> None:
        super().__init__("")
        self._values: dict[str, bytes] = {}

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the stored values of some keys."""
        return {key: _unpacked(self._values[key]) for key in keys if key in self._values}

    def put(self, values: Mapping[str, str]) -> None:
        """Store values."""
        self._values.update((key, _packed(value)) for key, value in values.items())


def _packed(value: str) -> bytes:
    """Return a text in a tenth of its size: the scans of large projects depend on thousands of names."""
    return compress(value.encode("utf-8", "surrogatepass"), 1)


def _unpacked(packed: bytes) -> str:
    """Return the text; an empty one for what is damaged."""
    try:
        return decompress(packed).decode("utf-8", "surrogatepass")
    except (zlib_error, UnicodeDecodeError, TypeError):
        return ""


def _today() -> int:
    return int(time.time() // _SECONDS_A_DAY)
