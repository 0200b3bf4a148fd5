"""The functions that run on a cluster's workers, and the version check between client and workers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock, Thread

from devfix.migrate.engines.subprocess_worker import SubprocessWorker
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

__all__ = ["Refusal", "dask_setup", "end_run", "run_task", "worker_version"]

_lock = Lock()
_idle: list[SubprocessWorker] = []
_busy: dict[SubprocessWorker, str] = {}
_ended_runs: set[str] = set()


@dataclass(frozen=True)
class Refusal:
    """The answer of a worker with another version: its address and version."""

    worker: str
    version: str


def run_task(run: str, wanted: str, content: bytes) -> Record | Refusal:
    """Process one repository in a subprocess.

    Args:
        run: the identifier of the engine's run.
        wanted: the required :func:`worker_version`.
        content: the pickled work and task, unpickled only if the versions match.

    """
    if wanted != worker_version():
        from distributed import get_worker

        return Refusal(get_worker().address, worker_version())
    work: Work
    task: Task
    work, task = pickle.loads(content)
    with _lock:
        if run in _ended_runs:
            return task.failed("fetch", "the run has ended")
        worker = _acquire()
        _busy[worker] = run
    try:
        return worker.run_task(work, task)
    finally:
        with _lock:
            del _busy[worker]
            if worker.is_alive and run not in _ended_runs:  # otherwise it is being terminated
                _release(worker)


def _release(worker: SubprocessWorker) -> None:
    if worker.is_oversized:
        Thread(target=worker.terminate, daemon=True).start()
    else:
        _idle.append(worker)


def _acquire() -> SubprocessWorker:
    while _idle:
        worker = _idle.pop()
        if worker.is_alive:
            return worker
    return SubprocessWorker()


def end_run(run: str) -> None:
    """End the subprocesses of a run and the idle ones; returns immediately."""
    with _lock:
        _ended_runs.add(run)
        workers = [*_idle, *(worker for worker, worker_run in _busy.items() if worker_run == run)]
        _idle.clear()
    for worker in workers:
        Thread(target=worker.terminate, daemon=True).start()


def dask_setup(worker: object) -> None:
    """Preloaded by our cluster's workers: ignore SIGINT; the client handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache(maxsize=1)
def worker_version() -> str:
    """Return the versions that affect results: devfix, its code, and Python; independent of the installation."""
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
