"""The work on one repository, by its name: who hands it out does not import what does it."""

from __future__ import annotations

from devfix.migrate.record import Record
from devfix.migrate.task import Task

__all__ = ["migrate"]


def migrate(task: Task) -> Record:
    """See :func:`devfix.migrate.work.migrate`."""
    from devfix.migrate.work import migrate as work

    return work(task)
