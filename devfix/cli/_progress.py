"""The progress of a long command, on a terminal only."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["Progress", "progress"]

_DELAY = 1.0  # seconds until something is shown
_FIXED_WIDTH = 52  # columns of everything except the current file
_MIN_WIDTH = 20  # columns of the current file


class Progress:
    """What a command is doing.  It may be told from any thread; nothing is shown in the first second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._latest = ("", 0, 0, "")

    def __call__(self, doing: str, done: int, total: int, current: str) -> None:
        """Tell the progress.

        Args:
            doing: what is counted, such as "programs".
            done: how many are finished.
            total: how many there are; 0 if that is not known.
            current: what is worked on.

        """
        with self._lock:
            begins = doing != self._latest[0]
            self._latest = doing, done, total, current
            if self._bar is not None:
                self._show(begins)

    def of_runs(self) -> Callable[[str], None]:
        """Return a function that counts runs of a script, and is told the name of each when it begins."""
        counter = itertools.count()
        return lambda name: self("runs of the script", next(counter), 0, name)

    def start(self) -> None:
        """Show the progress from now on."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=12),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("{task.fields[current]}", style="dim", markup=False),
        )
        with self._lock:
            self._bar = Bar(*columns, console=Console(stderr=True, highlight=False), transient=True)
            self._show(begins=True)
            self._bar.start()

    def stop(self) -> None:
        """Remove the display."""
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _show(self, begins: bool) -> None:
        assert self._bar is not None
        doing, done, total, current = self._latest
        if begins and self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        shown = _short(current, max(self._bar.console.width - _FIXED_WIDTH, _MIN_WIDTH))
        if self._task is None:
            self._task = self._bar.add_task(doing or "reading files", total=None, rate="", current=shown)
        self._bar.update(self._task, completed=done, total=total or None, current=shown)
        speed = self._bar.tasks[0].speed
        self._bar.update(self._task, rate=f"{speed:.1f}/s" if speed else "")


def _short(text: str, width: int) -> str:
    """Return a text without its middle if it is longer than ``width``: the end of a path says most."""
    from devfix.report.sanitize import printable

    text = printable(text)
    head = width // 3
    return text if len(text) <= width else f"{text[:head]}…{text[head + 1 - width :]}"


@contextmanager
def progress(quiet: bool = False) -> Iterator[Progress]:
    """Yield what is to be told of the progress; it is shown on standard error if that is a terminal."""
    told = Progress()
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield told
        return
    timer = threading.Timer(_DELAY, told.start)
    timer.daemon = True
    timer.start()
    try:
        yield told
    finally:
        timer.cancel()
        timer.join()
        told.stop()
