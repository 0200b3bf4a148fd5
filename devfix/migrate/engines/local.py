"""A pool of processes on this machine, one repository each at a time.

It uses pebble, because of Python's own pools, one breaks and the other hangs when a worker dies, and neither ends a
task that takes too long.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures import TimeoutError as TaskTimeout
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

from devfix.migrate.engines import EngineError
from devfix.migrate.engines.defer_interrupts import uninterrupted
from devfix.migrate.engines.worker_exit import describe_exit, describe_timeout, exit_on_signal, lost_record
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

    from pebble import ProcessPool

__all__ = ["LocalEngine", "cpu_count", "start_forkserver"]

_PR_SET_PDEATHSIG = 1
_MAX_BROKEN_POOLS = 3  # replaced pools before tasks fail
_MAX_TASKS = 50  # per worker, to release the memory of large repositories
_QUEUED_PER_WORKER = 2  # so that a worker never waits for its next task


def cpu_count() -> int:
    """Return the number of processes that can run in parallel."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def start_forkserver() -> None:
    """Start the forkserver: it preloads the workers' modules while this process reads the plan."""
    from multiprocessing.forkserver import ensure_running

    _context()
    with uninterrupted():
        ensure_running()


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["devfix.migrate.engines.ignore_sigint", "devfix.migrate.engines.preloaded"])
    return context


class LocalEngine:
    """A pool of processes; a process that dies, is killed or hangs is replaced, and costs one repository."""

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """Run the tasks; see :class:`devfix.migrate.engines.Engine`."""
        if find_spec("pebble") is None:
            raise EngineError("the local engine needs pebble: pip install 'devfix[migrate]'")
        return _run(iter(tasks), work, jobs or cpu_count())


def _run(tasks: Iterator[Task], work: Work, jobs: int) -> Iterator[Record]:
    pool = _pool(jobs)
    pending: dict[Future[Record], Task] = {}
    retry: list[Task] = []
    broken_pools = 0
    try:
        while True:
            for task in (*retry, *islice(tasks, jobs * _QUEUED_PER_WORKER - len(pending) - len(retry))):
                pending[pool.schedule(work, args=(task,), timeout=task.timeout or None)] = task
            retry.clear()
            if not pending:
                break
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                if broken_pools < _MAX_BROKEN_POOLS and isinstance(future.exception(), BrokenProcessPool):
                    retry.append(pending.pop(future))
                else:
                    yield _result(future, pending.pop(future))
            if retry:  # a killed worker held a lock of the pool
                broken_pools += 1
                retry += pending.values()
                pending.clear()
                _stop(pool)
                pool = _pool(jobs)
    finally:
        _stop(pool)


def _pool(jobs: int) -> ProcessPool:
    from pebble import ProcessPool

    start_forkserver()
    return ProcessPool(jobs, max_tasks=_MAX_TASKS, initializer=_initialize_worker, context=_context())


def _stop(pool: ProcessPool) -> None:
    """End the workers and their tasks."""
    pool.stop()  # type: ignore[no-untyped-call]  # pebble gives it no types
    pool.join()


def _initialize_worker() -> None:
    """Worker initializer: ignore SIGINT; exit when the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, exit_on_signal)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _result(future: Future[Record], task: Task) -> Record:
    from pebble import ProcessExpired

    try:
        return future.result()
    except TaskTimeout:
        reason = describe_timeout(task)
    except ProcessExpired as error:
        reason = describe_exit(error.exitcode)
    except Exception as error:  # the record cannot be pickled
        reason = f"internal error: {type(error).__name__}: {error}"
    return lost_record(task, reason)
