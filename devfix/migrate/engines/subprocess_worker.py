"""A subprocess for workers of a cluster: it processes one repository at a time and can be killed.

A cluster's worker runs tasks in a thread, which cannot be killed.  In a subprocess, a repository that hangs, runs out
of memory or crashes the interpreter costs only itself, and memory limits apply to it alone.  It needs no library, and
the worker may be a daemon, which cannot have children of :mod:`multiprocessing`.
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

from devfix.migrate.engines.worker_exit import describe_exit, describe_timeout, exit_on_signal, lost_record
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work
from devfix.vcs import git

__all__ = ["SubprocessWorker", "serve"]

_TERMINATION_GRACE_S = 2.0  # for killing git commands
_MAX_MEMORY_MB = 200  # resident memory between repositories
_MAX_TASKS = 50  # per process, if its memory cannot be measured


class SubprocessWorker:
    """The subprocess; it exits when its parent does.

    Raises:
        OSError: it cannot be started.

    """

    def __init__(self) -> None:
        self._connection, child_end = Pipe()
        self._done = 0
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from devfix.migrate.engines import subprocess_worker; "
            f"subprocess_worker.serve({child_end.fileno()})"
        )
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=(child_end.fileno(),),
                start_new_session=True,  # Ctrl-C must not reach it
            )
        finally:
            child_end.close()

    @property
    def is_alive(self) -> bool:
        """Whether it accepts tasks."""
        return self._child.poll() is None

    @property
    def is_oversized(self) -> bool:
        """Whether it retains so much memory that it should be replaced."""
        try:
            with open(f"/proc/{self._child.pid}/statm", "rb") as file:
                pages = int(file.read().split()[1])
        except (OSError, IndexError):
            return self._done >= _MAX_TASKS
        return pages * os.sysconf("SC_PAGE_SIZE") > _MAX_MEMORY_MB << 20

    def run_task(self, work: Work, task: Task) -> Record:
        """Process one repository; end the subprocess after ``Task.timeout``."""
        self._done += 1
        try:
            self._connection.send((work, task))
            if not self._connection.poll(task.timeout or None):
                self.terminate()
                return lost_record(task, describe_timeout(task))
            result = self._connection.recv()
        except (EOFError, OSError):
            self.terminate()
            return lost_record(task, describe_exit(self._child.returncode))
        return result if isinstance(result, Record) else lost_record(task, result)

    def terminate(self) -> None:
        """End the subprocess and its task; safe to call from any thread, and repeatedly."""
        for signal_process in (self._child.terminate, self._child.kill):
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(_TERMINATION_GRACE_S if self._child.poll() is None else 0)
                return
            signal_process()
        self._child.wait()


def serve(descriptor: int) -> None:
    """Run in the subprocess: process tasks until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, exit_on_signal)
    connection = Connection(descriptor)
    queue: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(connection, queue), daemon=True).start()
    while True:
        connection.send(_process(queue.get()))


def _receive(connection: Connection, queue: SimpleQueue[bytes]) -> None:
    """Queue received tasks; exit when the parent closes the connection, even during a task."""
    while True:
        try:
            queue.put(connection.recv_bytes())
        except (EOFError, OSError):
            git.end_all()
            os._exit(0)


def _process(payload: bytes) -> Record | str:
    try:
        work, task = pickle.loads(payload)
        record: Record = work(task)
        pickle.dumps(record)  # detect records that cannot be pickled
    except Exception as error:
        return f"internal error: {type(error).__name__}: {error}"
    return record
