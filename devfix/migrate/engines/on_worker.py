"""What a worker of a cluster does with a repository, and what it must have in common with who sends it."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock, Thread

from devfix.migrate.engines.subprocess_worker import Apart
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

__all__ = ["Refusal", "dask_setup", "end", "version", "work_on"]

_lock = Lock()
_idle: list[Apart] = []
_busy: dict[Apart, str] = {}
_over: set[str] = set()


@dataclass(frozen=True)
class Refusal:
    """A worker that must not do the work: what it is and has."""

    worker: str
    version: str


def work_on(run: str, wanted: str, content: bytes) -> Record | Refusal:
    """Work on one repository, in a process apart.

    Args:
        run: names the run of the engine that sent it.
        wanted: the :func:`version` that the worker must be.
        content: work and task, pickled: read only where the version is the same.

    """
    if wanted != version():
        from distributed import get_worker

        return Refusal(get_worker().address, version())
    work: Work
    task: Task
    work, task = pickle.loads(content)
    with _lock:
        if run in _over:
            return task.failed("fetch", "the run is over")
        apart = _taken()
        _busy[apart] = run
    try:
        return apart.do(work, task)
    finally:
        with _lock:
            del _busy[apart]
            if apart.alive and run not in _over:  # else it is about to end
                _put_away(apart)


def _put_away(apart: Apart) -> None:
    if apart.grown:
        Thread(target=apart.end, daemon=True).start()
    else:
        _idle.append(apart)


def _taken() -> Apart:
    while _idle:
        apart = _idle.pop()
        if apart.alive:
            return apart
    return Apart()


def end(run: str) -> None:
    """End what works for a run, and what waits for work; returns at once."""
    with _lock:
        _over.add(run)
        ended = [*_idle, *(apart for apart, its in _busy.items() if its == run)]
        _idle.clear()
    for apart in ended:
        Thread(target=apart.end, daemon=True).start()


def dask_setup(worker: object) -> None:
    """Preloaded where the workers are ours: Ctrl-C at the terminal is for who started them to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache(maxsize=1)
def version() -> str:
    """Names what decides on results: devfix and its code, and Python, without what differs between installations."""
    from devfix import __version__
    from devfix.rules.builtin import code_folders
    from devfix.sources.digest import digest

    files = [file for folder in code_folders() for file in _files(folder)]
    code = digest(*(part for name, content in sorted(files) for part in (name, content)))
    return f"devfix {__version__} (code {code[:8]}), Python {sys.version_info[0]}.{sys.version_info[1]}"


def _files(package: str) -> Iterator[tuple[str, bytes]]:
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    yield os.path.relpath(path, os.path.dirname(package)), file.read()
