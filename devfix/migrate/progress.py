"""What workers are at, told by small files: a worker that is killed can hold up nobody.

A task's file is named by its number and holds the worker's process, the stage, and since when.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["Stages", "Working", "forget", "working"]

_FOLDER = "working"


class Working(NamedTuple):
    """One task in work: its number and name, the worker's process, the stage, and since when (seconds since 1970)."""

    number: int
    name: str
    process: int
    stage: str
    since: float


class Stages:
    """The stages of one task: which one it is at, and how long each took.

    Args:
        scratch: the folder that worktrees lie in.
        number: of the task.
        name: of the task.

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
        with suppress(OSError):  # nobody may be there to read it
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.write_text(f"{os.getpid()}\t{stage}\t{self._since}\t{self._name}", "utf-8")

    def end(self) -> float:
        """Forget the file, and return the seconds since the start."""
        self._leave()
        with suppress(OSError):
            self._file.unlink()
        return round(time.monotonic() - self._started, 3)

    def _leave(self) -> None:
        now = time.monotonic()
        if self.stage:
            self.timings[self.stage] = round(now - self._entered, 3)
        self._entered = now


def working(scratch: str) -> list[Working]:
    """The tasks in work on this machine, by number."""
    found = []
    try:
        files = list(os.scandir(Path(scratch, _FOLDER)))
    except OSError:
        return []
    for file in files:
        with suppress(OSError, ValueError):
            process, stage, since, name = Path(file.path).read_text("utf-8").split("\t", 3)
            found.append(Working(int(file.name), name, int(process), stage, float(since)))
    return sorted(found)


def forget(scratch: str, number: int) -> None:
    """Forget a task whose worker is gone."""
    with suppress(OSError):
        Path(scratch, _FOLDER, str(number)).unlink()
