"""Engines: run tasks in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

__all__ = ["Engine", "EngineError"]


class EngineError(Exception):
    """The engine cannot run: a library is missing, or no scheduler responds.  The message says what to do."""


class Engine(Protocol):
    """Run tasks in workers.

    A worker that dies, is killed for its memory, or exceeds ``Task.timeout`` is replaced.  The engine creates a record
    (:meth:`devfix.migrate.task.Task.failed`) for the repository it was processing.
    """

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """Yield one record for each task, in the order of completion.

        Tasks are consumed lazily, because there may be a million.  Closing the iterator, or an exception in its
        consumer (Ctrl-C), ends the workers and their tasks.

        Args:
            tasks: the tasks.
            work: processes a task; a module-level function, so that it can be pickled.
            jobs: the number of workers; 0 for the engine's default.

        Raises:
            EngineError: no task can be processed.

        """
        ...
