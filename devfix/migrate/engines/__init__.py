"""Who does the work: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

__all__ = ["Engine", "EngineError"]


class EngineError(Exception):
    """The engine cannot work at all (a library is missing, no scheduler answers): the message says what to do."""


class Engine(Protocol):
    """Runs tasks in workers.

    A worker that dies, is killed for memory or hangs for longer than ``Task.timeout`` costs the repository that it
    worked on, for which the engine makes a record (:meth:`devfix.migrate.task.Task.failed`), and is replaced.
    """

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """One record for each task, in the order in which they end.

        Tasks are taken as they are needed: there may be a million.  Closing the iterator, or an exception in who
        reads it (Ctrl-C), ends the workers with what they were working on.

        Args:
            tasks: what is to be done.
            work: does one; a function of a module, so that it can travel.
            jobs: number of workers; 0 for as many as there are.

        Raises:
            EngineError: no work can be done at all.

        """
        ...
