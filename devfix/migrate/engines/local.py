"""Processes of this machine, one repository each at a time.

The pool is pebble's: of Python's own pools, one breaks when a worker dies and the other waits for its task for ever;
neither ends a task that takes too long.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures import TimeoutError as TooLong
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

from devfix.migrate.engines import EngineError
from devfix.migrate.engines.defer_interrupts import uninterrupted
from devfix.migrate.engines.worker_exit import how_it_ended, leave, lost, too_long
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

    from pebble import ProcessPool

__all__ = ["LocalEngine", "cores", "get_ready"]

_PR_SET_PDEATHSIG = 1
_MOST_BROKEN = 3  # pools that are made anew
_MOST_TASKS = 50  # of one worker: what a large repository took is given back
_AHEAD = 2  # tasks handed over for each worker: the next one is there when one is done


def cores() -> int:
    """How many processes can work at the same time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def get_ready() -> None:
    """Start the process that workers fork from: it imports what they need while this one reads the plan."""
    from multiprocessing.forkserver import ensure_running

    _context()
    with uninterrupted():
        ensure_running()


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["devfix.migrate.engines.ignore_sigint", "devfix.migrate.engines.preloaded"])
    return context


class LocalEngine:
    """A pool of processes: one that dies, is killed or hangs is replaced, and costs one repository."""

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """See :class:`devfix.migrate.engines.Engine`."""
        if find_spec("pebble") is None:
            raise EngineError("the local engine needs pebble: pip install 'devfix[migrate]'")
        return _run(iter(tasks), work, jobs or cores())


def _run(tasks: Iterator[Task], work: Work, jobs: int) -> Iterator[Record]:
    pool = _pool(jobs)
    waiting: dict[Future[Record], Task] = {}
    again: list[Task] = []
    broke = 0
    try:
        while True:
            for task in (*again, *islice(tasks, jobs * _AHEAD - len(waiting) - len(again))):
                waiting[pool.schedule(work, args=(task,), timeout=task.timeout or None)] = task
            again.clear()
            if not waiting:
                break
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                if broke < _MOST_BROKEN and isinstance(future.exception(), BrokenProcessPool):
                    again.append(waiting.pop(future))
                else:
                    yield _result(future, waiting.pop(future))
            if again:  # a worker was killed while it held what all of them share
                broke += 1
                again += waiting.values()
                waiting.clear()
                _end(pool)
                pool = _pool(jobs)
    finally:
        _end(pool)


def _pool(jobs: int) -> ProcessPool:
    from pebble import ProcessPool

    get_ready()
    return ProcessPool(jobs, max_tasks=_MOST_TASKS, initializer=_begin, context=_context())


def _end(pool: ProcessPool) -> None:
    """End the workers, with what they are working on."""
    pool.stop()  # type: ignore[no-untyped-call]  # pebble gives it no types
    pool.join()


def _begin() -> None:
    """In each worker: Ctrl-C is the parent's to handle, and who outlives it works for nobody."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _result(future: Future[Record], task: Task) -> Record:
    from pebble import ProcessExpired

    try:
        return future.result()
    except TooLong:
        why = too_long(task)
    except ProcessExpired as error:
        why = how_it_ended(error.exitcode)
    except Exception as error:  # what cannot be sent, or not be read
        why = f"internal error: {type(error).__name__}: {error}"
    return lost(task, why)
