"""Entry point of workers: imports the implementation only when it runs, so that dispatching a task is fast."""

from __future__ import annotations

from devfix.migrate.record import Record
from devfix.migrate.task import Task

__all__ = ["migrate"]


def migrate(task: Task) -> Record:
    """Call :func:`devfix.migrate.work.migrate`, and write the record to ``task.results``, if any."""
    from devfix.migrate.work import migrate as work

    record = work(task)
    if not task.results or record.unchanged:
        return record
    from devfix.migrate.results import store

    return store(task, record)
