"""The end of a worker: its git commands are killed, and its repository gets a record."""

from __future__ import annotations

import os
import signal
from types import FrameType

from devfix.migrate.mirrors import default_scratch
from devfix.migrate.progress import active_tasks, discard
from devfix.migrate.record import Record
from devfix.migrate.task import Task
from devfix.vcs import git

__all__ = ["describe_exit", "describe_timeout", "exit_on_signal", "lost_record"]


def exit_on_signal(signal_number: int, frame: FrameType | None) -> None:
    """Handle a signal: kill running git commands, then exit by the signal.

    Runs of a script exit when their parent closes the pipe.
    """
    git.end_all()
    signal.signal(signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), signal_number)


def describe_timeout(task: Task) -> str:
    """Return the reason for a record of a task that exceeded its time limit."""
    return f"it took longer than {task.timeout:g} s, so its worker was ended"


def describe_exit(code: int | None) -> str:
    """Return the reason for a worker's exit code, which is negative for a signal, as in :mod:`subprocess`."""
    if code == -signal.SIGKILL:
        return "its worker was killed, probably by the system because of low memory"
    if code is not None and code < 0:
        return f"its worker was killed by {signal.Signals(-code).name}"
    return f"its worker exited with code {code}"


def lost_record(task: Task, reason: str) -> Record:
    """Return the record of a repository whose worker on this machine died; its progress file names the stage."""
    scratch = task.scratch or default_scratch()
    active = next((each for each in active_tasks(scratch) if each.number == task.number), None)
    if active is not None:
        discard(scratch, task.number)
    return task.failed(active.stage if active else "fetch", reason)
