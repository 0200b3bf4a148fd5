"""An append-only file of lines, each with a checksum: damage costs the damaged lines only.

A line is the CRC-32 of its body in hexadecimal, a space, the body, and a line feed.  A body contains no line feed.  A
kill during an append leaves a last line without its end, which the next writer removes: nobody was told that it was
written.  Any other line whose checksum is wrong (a bad sector, zeros after a power failure, an editor) is skipped and
counted.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple
from zlib import crc32

__all__ = ["Log", "Span"]

_HEAD = 9  # characters of the checksum and the space
_SYNC_INTERVAL_S = 1.0


class Span(NamedTuple):
    """The place of a body: its offset in the file and its length, in bytes."""

    offset: int
    length: int


class Log:
    """The file.

    Args:
        path: its path.
        writable: whether to create the file, and to remove an incomplete last line.  Only one process may write.

    Attributes:
        damaged: the number of lines with a wrong checksum, after :meth:`read_all`.

    Raises:
        OSError: the file cannot be opened; ``BlockingIOError`` if another process writes it.

    """

    def __init__(self, path: str, *, writable: bool) -> None:
        self.path = path
        self.damaged = 0
        self._writable = writable
        self._synced = 0.0
        self._file = os.open(path, (os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY) | os.O_CLOEXEC, 0o600)
        self.size = os.fstat(self._file).st_size
        self._lock()

    def _lock(self) -> None:
        """Lock the file itself: somebody may delete a lock beside it."""
        if self._writable:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def read_all(self) -> Iterator[tuple[Span, bytes]]:
        """Yield the place and the content of each body; afterwards, a writer has removed an incomplete last line."""
        self.damaged = offset = 0
        with open(self._file, "rb", buffering=1 << 20, closefd=False) as file:  # not the path: it may be replaced
            file.seek(0)
            for line in file:
                end = offset + len(line)
                if line[-1:] != b"\n":  # being written, or its writer was killed
                    break
                body = line[_HEAD:-1]
                if line[:_HEAD] == b"%08x " % crc32(body):
                    yield Span(offset + _HEAD, len(body)), body
                else:
                    self.damaged += 1
                offset = end
        if self._writable and offset < self.size:
            os.ftruncate(self._file, offset)
        self.size = offset

    def append(self, body: bytes) -> Span:
        """Append a body; the file is synced at most once a second.

        Raises:
            OSError: the disk is full, or the file cannot be written; the file is as before.

        """
        line = _line(body)
        written = 0
        try:
            while written < len(line):
                count = os.pwrite(self._file, line[written:], self.size + written)
                if not count:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
                written += count
        except BaseException:  # Ctrl-C as well: no part of a line stays
            with suppress(OSError):
                os.ftruncate(self._file, self.size)
            raise
        span = Span(self.size + _HEAD, len(body))
        self.size += len(line)
        now = time.monotonic()
        if now - self._synced >= _SYNC_INTERVAL_S:
            os.fsync(self._file)
            self._synced = now
        return span

    def read(self, span: Span) -> bytes:
        """Return a body.

        Raises:
            OSError: the file cannot be read.

        """
        return os.pread(self._file, span.length, span.offset)

    def rewrite(self, spans: Iterable[Span]) -> list[Span]:
        """Replace the file with one that has only these bodies, in this order, and return their new places.

        Readers keep the old file; a kill leaves the old file or the new one.

        Raises:
            OSError: the new file cannot be written; the file is as before.

        """
        temporary = f"{self.path}.new"
        placed, offset = [], 0
        try:
            with open(temporary, "wb", buffering=1 << 20) as file:
                for span in spans:
                    line = _line(self.read(span))
                    file.write(line)
                    placed.append(Span(offset + _HEAD, span.length))
                    offset += len(line)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:  # Ctrl-C as well: no temporary file stays
            with suppress(OSError):
                os.unlink(temporary)
            raise
        os.close(self._file)
        self._file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        self._lock()
        self.size = offset
        return placed

    def close(self) -> None:
        """Sync and close the file."""
        if self._writable:
            with suppress(OSError):
                os.fsync(self._file)
        os.close(self._file)


def _line(body: bytes) -> bytes:
    return b"%08x %s\n" % (crc32(body), body)
