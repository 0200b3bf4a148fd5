"""How a worker ends: with the git commands that it runs, and with a record of what it was working on."""

from __future__ import annotations

import os
import signal
from types import FrameType

from devfix.migrate.mirrors import default_scratch
from devfix.migrate.progress import forget, working
from devfix.migrate.record import Record
from devfix.migrate.task import Task
from devfix.vcs import git

__all__ = ["how_it_ended", "leave", "lost", "too_long"]


def leave(signal_number: int, frame: FrameType | None) -> None:
    """A signal's handler: end with the git commands that run.

    The runs of a script end by themselves when nobody is there to hear of them.
    """
    git.end_all()
    signal.signal(signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), signal_number)


def too_long(task: Task) -> str:
    """Why there is no record of a task whose time was over."""
    return f"it took longer than {task.timeout:g} s, and its worker was ended"


def how_it_ended(code: int | None) -> str:
    """What a process's exit code tells, as :mod:`subprocess` has it."""
    if code == -signal.SIGKILL:
        return "its worker was killed: by the system for want of memory, or by somebody"
    if code is not None and code < 0:
        return f"its worker was killed by {signal.Signals(-code).name}"
    return f"its worker ended with {code}"


def lost(task: Task, why: str) -> Record:
    """The record of a repository whose worker on this machine is gone; what it was at stands in its file."""
    scratch = task.scratch or default_scratch()
    at = next((each for each in working(scratch) if each.number == task.number), None)
    if at is not None:
        forget(scratch, task.number)
    return task.failed(at.stage if at else "fetch", why)
