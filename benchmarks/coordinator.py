"""Cost of the main machine: ``python -m benchmarks.coordinator [--repositories 1000000]``.

The real plan, state, migration and report, with workers that answer at once: of twenty repositories, one gets a patch,
and of fifty, one fails.  Each step runs in a separate process, with its CPU time and peak memory:

- ``first``: all records are new.
- ``again``: every commit is pinned and done, so that no worker is asked.
- ``unchanged``: a first run, then one in which the worker asks each remote and answers that the commit is done.
- ``report``, ``compact``, ``damage``: the report of all records, a compaction of the state, a state with lost bytes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from devfix.migrate.plan import read_plan
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.migrate.run import Choice, Migration, select_tasks
from devfix.migrate.state import State
from devfix.migrate.task import Task, Work

_COMMIT = "0123456789" * 4
_STEPS = ("first", "again", "report", "compact", "unchanged", "damage")
_LINES = "".join(f" context {number}\n-    batch = torch.randn(8, 4)\n+    batch = moved\n" for number in range(30))
_PATCH = f"--- a/train.py\n+++ b/train.py\n@@ -1,60 +1,60 @@\n{_LINES}"
_EVENT = {"kind": "created", "path": "train.py", "line": 8, "column": 13, "source": "batch = …", "note": "created here"}
_FINDING = {
    "code": "DEV401",
    "name": "tensor-without-device",
    "severity": "error",
    "status": "fixed",
    "message": "`batch` is created on the CPU",
    "path": "train.py",
    "span": {"line": 8, "column": 13, "end_line": 8, "end_column": 30},
    "events": [_EVENT],
    "fix": {"title": "create `batch` on `device`", "applicability": "safe", "files": ["train.py"]},
    "reason": None,
    "notes": [],
}


class Instant:
    """An engine without workers."""

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """Yield what the work returns."""
        return map(work, tasks)


def answer(task: Task) -> Record:
    """Return a record at once."""
    if _COMMIT in task.done_commits:
        return replace(task.failed("fetch", ""), commit=_COMMIT, unchanged=True)
    if task.number % 50 == 1:
        return task.failed("fetch", "git fetch: no connection", seconds=1.0, log="fatal: no connection\n" * 20)
    timings = {"fetch": 0.5, "checkout": 0.25, "scan": 2.0}
    given: dict[str, Any] = {"ref": task.ref, "commit": _COMMIT, "checked": 40, "seconds": 2.75, "timings": timings}
    if task.number % 20 == 0:
        patched: dict[str, Any] = {"findings": (_FINDING,) * 3, "patch": _PATCH}
        return Record(task.number, task.name, task.repository, RepositoryOutcome.FIXED, **given, **patched)
    return Record(task.number, task.name, task.repository, RepositoryOutcome.CLEAN, **given)


def _plan(folder: Path, count: int) -> None:
    with open(folder / "pinned", "w") as pinned, open(folder / "tips", "w") as tips:
        for number in range(count):
            url = f"https://example.org/lab-{number % 1000}/project-{number}.git"
            pinned.write(f"{url} {_COMMIT}\n")
            tips.write(f"{url}\n")


def _migrate(folder: Path, plan: str) -> int:
    tasks = select_tasks(read_plan(str(folder / plan)), Choice(), str(folder / "scratch"))
    with closing(State(str(folder / f"{plan}.log"))) as state:
        migration = Migration(tasks, Choice(), state, str(folder / plan) + "-out")
        return sum(1 for _ in migration.run(Instant(), answer, 1))


def _step(name: str, folder: Path) -> str:
    """Do one step, and return a description of the result."""
    if name in ("first", "again"):
        return f"{_migrate(folder, 'pinned')} records"
    if name == "unchanged":
        _migrate(folder, "tips")
        return f"{_migrate(folder, 'tips')} records, after a first run"
    path = str(folder / "pinned.log")
    if name == "report":
        from devfix.report.migrations.page import page

        with closing(State(path, writable=False)) as state:
            found = (state.record(entry) for entry in state.latest())
            text = page(record for record in found if record is not None)
        return f"{len(text) / 1e6:.0f} MB of HTML"
    if name == "compact":
        with closing(State(path)) as state:
            state.compact()
        return f"{os.stat(path).st_size / 1e6:.0f} MB of state"
    with open(path, "r+b") as file:
        file.seek(os.stat(path).st_size // 2)
        file.write(bytes(4096))
        file.truncate(os.stat(path).st_size - 100)
    with closing(State(path)) as state:
        return f"{state.damaged} damaged lines, {len(state.latest())} records remain"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=int, default=100_000)
    parser.add_argument("--steps", nargs="*", choices=_STEPS, default=_STEPS)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        start = time.perf_counter()
        told = _step(given.step, Path(given.folder))
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu, wall = used.ru_utime + used.ru_stime, time.perf_counter() - start
        print(
            f"{given.step}: {told}; {cpu:.1f} s of CPU, {wall:.1f} s, up to {used.ru_maxrss / 1024:.0f} MB", flush=True
        )
        return
    with tempfile.TemporaryDirectory(prefix="devfix-coordinator-") as folder:
        _plan(Path(folder), given.repositories)
        for step in given.steps:
            command = [sys.executable, "-m", "benchmarks.coordinator", "--step", step, "--folder", folder]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
