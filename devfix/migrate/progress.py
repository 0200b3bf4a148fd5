"""Progress of workers, in small files, so that a killed worker blocks nothing.

The file of a task has its number as a name, and contains the worker's process, the stage, and the start time.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["ActiveTask", "Stages", "active_tasks", "discard"]

_FOLDER = "working"


class ActiveTask(NamedTuple):
    """A task in progress: number, name, the worker's process, stage, and its start in seconds since 1970."""

    number: int
    name: str
    process: int
    stage: str
    since: float


class Stages:
    """The stages of a task and their durations.

    Args:
        scratch: the folder of worktrees.
        number: the number of the task.
        name: the name of the task.

    """

    def __init__(self, scratch: str, number: int, name: str) -> None:
        self._file = Path(scratch, _FOLDER, str(number))
        self._name = name
        self._started = self._entered = time.monotonic()
        self._since = time.time()
        self.stage = ""
        self.timings: dict[str, float] = {}

    def enter(self, stage: str) -> None:
        """Begin a stage."""
        self._leave()
        self.stage = stage
        with suppress(OSError):  # progress is optional
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.write_text(f"{os.getpid()}\t{stage}\t{self._since}\t{self._name}", "utf-8")

    def end(self) -> float:
        """Delete the file, and return the seconds since the start."""
        self._leave()
        with suppress(OSError):
            self._file.unlink()
        return round(time.monotonic() - self._started, 3)

    def _leave(self) -> None:
        now = time.monotonic()
        if self.stage:
            self.timings[self.stage] = round(now - self._entered, 3)
        self._entered = now


def active_tasks(scratch: str) -> list[ActiveTask]:
    """Return the tasks in progress on this machine, by number."""
    found = []
    try:
        files = list(os.scandir(Path(scratch, _FOLDER)))
    except OSError:
        return []
    for file in files:
        with suppress(OSError, ValueError):
            process, stage, since, name = Path(file.path).read_text("utf-8").split("\t", 3)
            found.append(ActiveTask(int(file.name), name, int(process), stage, float(since)))
    return sorted(found)


def discard(scratch: str, number: int) -> None:
    """Delete the file of a task whose worker has died."""
    with suppress(OSError):
        Path(scratch, _FOLDER, str(number)).unlink()
