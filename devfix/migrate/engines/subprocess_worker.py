"""A process apart, for workers that belong to somebody else: it works on one repository at a time and can be ended.

A worker of a cluster runs tasks in a thread, which nothing can end.  Beside it, a repository that hangs, is killed for
memory or breaks the interpreter costs itself only, and limits on memory hold for it alone.  No library is needed, and
the worker may be a daemon, which must not have children of :mod:`multiprocessing`.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from queue import SimpleQueue
from threading import Thread

from devfix.migrate.engines.worker_exit import how_it_ended, leave, lost, too_long
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work
from devfix.vcs import git

__all__ = ["Apart", "serve"]

_GRACE = 2.0  # seconds to end the git commands in
_MOST_MB = 200  # of memory that a process keeps between repositories
_MOST_TASKS = 50  # of one process, where its memory cannot be looked at


class Apart:
    """The process.  It ends by itself when this one does.

    Raises:
        OSError: it cannot be started.

    """

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        self._done = 0
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from devfix.migrate.engines import apart; "
            f"apart.serve({theirs.fileno()})"
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is for others to handle
            )
        finally:
            theirs.close()

    @property
    def alive(self) -> bool:
        """Whether it can be given a task."""
        return self._process.poll() is None

    @property
    def grown(self) -> bool:
        """Whether it keeps so much memory of what it did that another one had better go on."""
        try:
            with open(f"/proc/{self._process.pid}/statm", "rb") as file:
                pages = int(file.read().split()[1])
        except (OSError, IndexError):
            return self._done >= _MOST_TASKS
        return pages * os.sysconf("SC_PAGE_SIZE") > _MOST_MB << 20

    def do(self, work: Work, task: Task) -> Record:
        """Work on one repository; after ``Task.timeout`` the process is ended."""
        self._done += 1
        try:
            self._connection.send((work, task))
            if not self._connection.poll(task.timeout or None):
                self.end()
                return lost(task, too_long(task))
            answer = self._connection.recv()
        except (EOFError, OSError):
            self.end()
            return lost(task, how_it_ended(self._process.returncode))
        return answer if isinstance(answer, Record) else lost(task, answer)

    def end(self) -> None:
        """End the process with what it works on; may be called from any thread, and more than once."""
        for ask in (self._process.terminate, self._process.kill):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE if self._process.poll() is None else 0)
                return
            ask()
        self._process.wait()


def serve(descriptor: int) -> None:
    """In the process: do what comes, until nobody is there to hear of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    connection = Connection(descriptor)
    given: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(connection, given), daemon=True).start()
    while True:
        connection.send(_answer(given.get()))


def _listen(connection: Connection, given: SimpleQueue[bytes]) -> None:
    """Hand over what comes; when the other side has gone, in the middle of a task too, end."""
    while True:
        try:
            given.put(connection.recv_bytes())
        except (EOFError, OSError):
            git.end_all()
            os._exit(0)


def _answer(parcel: bytes) -> Record | str:
    try:
        work, task = pickle.loads(parcel)
        record: Record = work(task)
        pickle.dumps(record)  # what cannot be sent is told here
    except Exception as error:
        return f"internal error: {type(error).__name__}: {error}"
    return record
