"""The analysis thread: jobs by priority; outdated ones are cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Stale", "Worker"]

_STACK = 256 * 1024 * 1024  # bytes of address space: the interpreter recurses with the program


class Stale(BaseException):
    """The job was cancelled.  Not an ``Exception``, so that no handler on the way catches it."""


@dataclass(eq=False)
class _Job:
    rank: int
    key: Hashable
    work: Callable[[Callable[[], None]], Any]
    future: Future[Any] = field(default_factory=Future)
    given_up: bool = False


class Worker:
    """Runs jobs one after the other: lower ranks first, first come first served within a rank.

    A job gets a function to call often, which raises :class:`Stale` if the job is cancelled.  A job replaces a waiting
    or running one with the same ``key``, which is cancelled.  A running job of rank :attr:`PATIENT` yields to any
    other, and restarts later.
    """

    PATIENT = 9

    def __init__(self) -> None:
        self._jobs: list[_Job] = []
        self._running: _Job | None = None
        self._wake = threading.Condition()
        self._ended = False
        before = threading.stack_size(_STACK)
        self._thread = threading.Thread(target=self._work, name="devfix-analysis", daemon=True)
        try:
            self._thread.start()
        finally:
            threading.stack_size(before)

    def submit(self, rank: int, key: Hashable, work: Callable[[Callable[[], None]], Any]) -> Future[Any]:
        """Queue ``work``; its result or exception goes into the future, which may be cancelled."""
        job = _Job(rank, key, work)
        with self._wake:
            for old in [each for each in self._jobs if each.key == key]:
                self._jobs.remove(old)
                old.future.cancel()
            if self._running is not None and self._running.key == key:
                self._running.given_up = True
            self._jobs.append(job)
            self._wake.notify()
        return job.future

    def end(self, patience: float = 5.0) -> None:
        """Cancel everything, and wait for the thread (seconds)."""
        with self._wake:
            self._ended = True
            for job in self._jobs:
                job.future.cancel()
            self._jobs.clear()
            self._wake.notify()
        self._thread.join(patience)

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._jobs and not self._ended:
                    self._wake.wait()
                if self._ended:
                    return
                job = min(self._jobs, key=lambda each: each.rank)
                self._jobs.remove(job)
                self._running = job
            self._do(job)
            with self._wake:
                self._running = None

    def _do(self, job: _Job) -> None:
        def still_wanted() -> None:
            if self._ended or job.given_up or job.future.cancelled() or self._interrupts(job):
                raise Stale

        try:
            result = job.work(still_wanted)
        except Stale:
            with self._wake:
                replaced = self._ended or job.given_up or job.future.cancelled()
                if not replaced:
                    self._jobs.append(job)
            if replaced:
                job.future.cancel()
        except BaseException as error:  # errors go to the future; the thread continues
            _settle(job.future, error=error)
        else:
            _settle(job.future, result)

    def _interrupts(self, job: _Job) -> bool:
        return job.rank == self.PATIENT and any(each.rank < job.rank for each in self._jobs)


def _settle(future: Future[Any], result: Any = None, error: BaseException | None = None) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
