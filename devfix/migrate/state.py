"""The state of a migration: an append-only log that survives a kill at any moment, and damage at any place.

A line is written when a repository is done; the latest line of a key counts.  The key is the repository, its
sub-folder, the settings and the version of devfix; there is a record for each commit of it.  After a power failure, at
most the lines of the last second are lost.  A repository whose line is damaged is processed again.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from devfix.migrate.changes import Change
from devfix.migrate.log import Log, Span
from devfix.migrate.record import Record, RecordError, RepositoryOutcome
from devfix.migrate.task import Task
from devfix.sources.digest import digest

__all__ = ["RESUME_HINT", "Entry", "State", "StateError"]

RESUME_HINT = "free some space and run the same command again; finished repositories are kept"
_MAGIC = b"devfix "
_VERSION = b"2"
_BODY = 9  # offset of a body in its line
_RECORD, _FORGOTTEN, _RUN = b"record", b"forgotten", b"run"
_MIN_WASTE = 16 << 20  # bytes; less is not worth a compaction
_OUTCOMES = {outcome.value.encode(): outcome for outcome in RepositoryOutcome}


class StateError(Exception):
    """The file cannot be used; the message says why and what to do."""


class Entry(NamedTuple):
    """A stored record, without its content.

    Attributes:
        span: the place of its line.
        identity: digest of repository, ref and sub-folder: equal for all settings and versions of devfix.
        number: the repository's position in the plan.
        commit: the analysed commit; empty if there was none.
        outcome: the outcome.
        finished: seconds since 1970.
        has_change: whether there is a pull request, or there shall be one or more.

    """

    span: Span
    identity: bytes
    number: int
    commit: bytes
    outcome: RepositoryOutcome
    finished: float
    has_change: bool


class State:
    """The state of one migration; only one process may write it.

    Args:
        path: the file.
        writable: whether to write; otherwise the file must exist, and may be in use.

    Attributes:
        damaged: the number of damaged lines, which were skipped.
        run: options and time of the last run; empty if there was none.

    Raises:
        StateError: the file cannot be opened, is not a state, or is in use by another process.

    """

    def __init__(self, path: str, *, writable: bool = True) -> None:
        self.path = path = os.path.realpath(path)  # a link to a state is not another state
        self.damaged = 0
        self.run: Mapping[str, Any] = {}
        self._run_span: Span | None = None
        self._entries: dict[bytes, tuple[Entry, ...]] = {}  # of a key, the latest first
        self._used = 0  # bytes of lines that count
        self._lock: int | None = None
        with self._translate_errors():
            if writable:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                self._acquire_lock()
            self._check_kind()
            self._log = Log(path, writable=writable)
            self._read()
            if writable and self._log.size - self._used > max(_MIN_WASTE, self._used):
                self.compact()

    def _acquire_lock(self) -> None:
        self._lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _check_kind(self) -> None:
        """Refuse to truncate a file that somebody named by mistake."""
        with suppress(FileNotFoundError), open(self.path, "rb") as file:
            start = file.read(1 << 16)
            if start.startswith(b"SQLite format 3"):
                raise StateError(f"{self.path} is a state of an earlier version of devfix: choose another --state")
            bodies = [line[_BODY:] for line in start.split(b"\n")]
            if start and not any(body.startswith(_MAGIC) for body in bodies) and not _MAGIC.startswith(start[_BODY:]):
                raise StateError(f"{self.path} is not a state of devfix migrate: choose another --state")

    # --- reading --------------------------------------------------------------------------------------------------
    def _read(self) -> None:
        for span, body in self._log.read_all():
            head = body.split(b"\t", 9)
            if head[0] != _MAGIC + _VERSION:
                version = head[0].removeprefix(_MAGIC).decode("ascii", "replace")[:20]
                raise StateError(
                    f"{self.path} has version {version}, but this devfix writes version {_VERSION.decode()}: "
                    "choose another --state"
                )
            try:
                self._take(span, head)
            except (IndexError, KeyError, ValueError):  # no line of this version
                self._log.damaged += 1
        self.damaged = self._log.damaged

    def _take(self, span: Span, head: list[bytes]) -> None:
        kind = head[1]
        if kind == _RECORD:
            key, identity = bytes.fromhex(head[2].decode()), bytes.fromhex(head[3].decode())
            number, commit, outcome, finished = int(head[4]), head[5], _OUTCOMES[head[6]], float(head[7])
            self._add(key, Entry(span, identity, number, commit, outcome, finished, bool(head[8])))
        elif kind == _FORGOTTEN:
            self._drop(bytes.fromhex(head[2].decode()))
        elif kind == _RUN:
            self.run = json.loads(head[2])
            self._used += span.length - (0 if self._run_span is None else self._run_span.length)
            self._run_span = span

    def _add(self, key: bytes, entry: Entry) -> None:
        """Add an entry; it replaces the one of the same commit, and those without a commit."""
        replaced = [each for each in self._entries.get(key, ()) if each.commit in (b"", entry.commit)]
        kept = [each for each in self._entries.get(key, ()) if each.commit not in (b"", entry.commit)]
        self._entries[key] = (entry, *kept)
        self._used += entry.span.length - sum(each.span.length for each in replaced)

    def _drop(self, key: bytes) -> None:
        self._used -= sum(each.span.length for each in self._entries.pop(key, ()))

    def entries(self, task: Task) -> tuple[Entry, ...]:
        """Return the entries with the task's settings and this version of devfix, the latest first."""
        return self._entries.get(_key(task), ())

    def latest(self) -> list[Entry]:
        """Return the latest entry of each repository, ref and sub-folder, in the order of the plan."""
        found: dict[bytes, Entry] = {}
        for entry in (each for entries in self._entries.values() for each in entries[:1]):
            known = found.get(entry.identity)
            if known is None or known.finished <= entry.finished:
                found[entry.identity] = entry
        return sorted(found.values(), key=lambda entry: (entry.number, entry.identity))

    def current(self, entry: Entry) -> Entry:
        """Return the entry that has replaced this one; the same one if none has.

        Raises:
            StateError: the file cannot be read.

        """
        key = bytes.fromhex(self._part(entry, 2).decode("ascii"))
        return next((each for each in self._entries.get(key, ()) if each.commit == entry.commit), entry)

    def document(self, entry: Entry) -> bytes:
        """Return the JSON of a record: one line, without a line feed.

        Raises:
            StateError: the file cannot be read.

        """
        return self._part(entry, 9)

    def record(self, entry: Entry) -> Record | None:
        """Return a record; ``None`` if it is of a version that this devfix cannot read.

        Raises:
            StateError: the file cannot be read.

        """
        try:
            return Record.from_line(self.document(entry).decode("ascii"))
        except (RecordError, UnicodeDecodeError):
            return None

    def changes(self, entry: Entry) -> tuple[Change, ...]:
        """Return the pull requests of a record; none if there shall be none, or they cannot be read."""
        try:
            found = json.loads(self._part(entry, 8)) if entry.has_change else []
            return tuple(Change.from_document(each) for each in found)
        except (KeyError, TypeError, ValueError):
            return ()

    def _part(self, entry: Entry, index: int) -> bytes:
        with self._translate_errors():
            return self._log.read(entry.span).split(b"\t", 9)[index]

    # --- writing --------------------------------------------------------------------------------------------------
    def put(self, task: Task, record: Record, changes: Sequence[Change] = ()) -> Entry:
        """Store a record; it replaces the one of the same commit and settings, and those without a commit.

        Raises:
            StateError: the file cannot be written.

        """
        identity = digest(task.repository, task.ref, task.folder)
        return self._append_record(_key(task), identity, record, changes)

    def replace_change(self, entry: Entry, record: Record, change: Change) -> Entry:
        """Store a record and one of its pull requests, the one with the same owners, in the place of an entry.

        Raises:
            StateError: the file cannot be written.

        """
        key = bytes.fromhex(self._part(entry, 2).decode("ascii"))
        changes = [change if each.owners == change.owners else each for each in self.changes(entry)]
        return self._append_record(key, entry.identity.hex(), record, changes)

    def _append_record(self, key: bytes, identity: str, record: Record, changes: Sequence[Change]) -> Entry:
        now = time.time()
        commit = record.commit.encode()
        told = _json([change.to_document() for change in changes]) if changes else b""
        span = self._append(
            *(_RECORD, key.hex().encode(), identity.encode(), b"%d" % record.number, commit),
            *(record.outcome.value.encode(), b"%.3f" % now, told, record.line().encode("ascii")),
        )
        entry = Entry(
            span, bytes.fromhex(identity), record.number, commit, record.outcome, round(now, 3), bool(changes)
        )
        self._add(key, entry)
        return entry

    def forget(self, task: Task) -> None:
        """Delete the records with the task's settings.

        Raises:
            StateError: the file cannot be written.

        """
        self._forget_key(_key(task))

    def forget_entry(self, entry: Entry) -> None:
        """Delete all records with the repository and the settings of an entry.

        Raises:
            StateError: the file cannot be written.

        """
        self._forget_key(bytes.fromhex(self._part(entry, 2).decode("ascii")))

    def _forget_key(self, key: bytes) -> None:
        if key in self._entries:
            self._append(_FORGOTTEN, key.hex().encode())
            self._drop(key)

    def note_run(self, document: Mapping[str, Any]) -> None:
        """Store options and time of a run.

        Raises:
            StateError: the file cannot be written.

        """
        span = self._append(_RUN, _json(document))
        self._used += span.length - (0 if self._run_span is None else self._run_span.length)
        self.run, self._run_span = document, span

    def _append(self, *parts: bytes) -> Span:
        with self._translate_errors():
            return self._log.append(b"\t".join((_MAGIC + _VERSION, *parts)))

    def compact(self) -> None:
        """Rewrite the file without the lines that no longer count, and without damaged ones.

        Raises:
            StateError: the file cannot be written; the old one remains.

        """
        entries = [(key, entry) for key, found in self._entries.items() for entry in reversed(found)]
        runs = [self._run_span] if self._run_span is not None else []
        with self._translate_errors():
            spans = iter(self._log.rewrite([*runs, *(entry.span for _, entry in entries)]))
        self._run_span = next(spans) if runs else None
        self._entries, self._used = {}, sum(span.length for span in runs)
        for (key, entry), span in zip(entries, spans, strict=True):
            self._add(key, entry._replace(span=span))

    def close(self) -> None:
        """Close the file and release its lock."""
        self._log.close()
        if self._lock is not None:
            os.close(self._lock)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:  # one of the two locks: of the file itself, and of the one beside it
            raise StateError(
                f"{self.path} is in use by another devfix migrate: wait for it, or choose another --state"
            ) from None
        except OSError as error:
            advice = f"; {RESUME_HINT}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
            raise StateError(f"{error.filename or self.path}: {error.strerror}{advice}") from error


def _key(task: Task) -> bytes:
    return bytes.fromhex(digest(task.repository, task.folder, task.settings_key, task.tool_key))


def _json(document: Mapping[str, Any] | list[dict[str, Any]]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode("ascii")
