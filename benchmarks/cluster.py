"""Cost of a cluster: a scheduler and two workers on loopback, ``python -m benchmarks.cluster [--repositories 200]``.

Two runs, each measured in CPU time and peak memory of client, scheduler, workers and the processes beside them:

- ``repositories``: of benchmarks/migrate, with the work that ``devfix migrate`` does; also the size of their mirrors.
- ``nothing``: as many tasks as ``--tasks`` says with no work in them: what remains is dask's and ours.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import psutil

from benchmarks.migrate.repositories import generate
from devfix.migrate.engines.dask import DaskEngine
from devfix.migrate.plan import read_plan
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.migrate.task import Task, Work
from devfix.migrate.work import migrate

_WORKERS = 2


def nothing(task: Task) -> Record:
    """Do nothing."""
    return Record(task.number, task.name, task.repository, RepositoryOutcome.CLEAN)


def measure(name: str, address: str, tasks: Iterable[Task], work: Work, roles: dict[str, list[int]]) -> None:
    """Run, and print the cost of each role."""
    before = {role: sum(map(_cpu, processes)) for role, processes in roles.items()}
    start = time.perf_counter()
    peaks: dict[str, float] = defaultdict(float)
    records = 0
    for record in DaskEngine(address).run(tasks, work, 0):
        assert "internal error" not in record.reason, record.reason
        records += 1
        if records % 10 == 0 or records < 10:
            _memory(roles, peaks)
            last = {role: sum(map(_cpu, processes)) for role, processes in roles.items()}
    seconds = time.perf_counter() - start
    print(f"{name}: {records} in {seconds:.1f} s on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for role in roles:
        each = 1000 * (last[role] - before[role]) / records
        print(f"{name}: {role}: {each:.2f} ms of CPU for each, with all it started; up to {peaks[role]:.0f} MB")
    print(f"{name}: process beside a worker: up to {peaks['apart']:.0f} MB")


def _cpu(number: int) -> float:
    """Return the CPU seconds of a process and its children, running and finished."""
    process = psutil.Process(number)
    total = 0.0
    started = [] if number == os.getpid() else process.children(recursive=True)
    for each in (process, *started):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _memory(roles: dict[str, list[int]], peaks: dict[str, float]) -> None:
    for role, processes in roles.items():
        for number in processes:
            peaks[role] = max(peaks[role], psutil.Process(number).memory_info().rss / 2**20)
    for number in roles["workers"]:
        for child in psutil.Process(number).children():
            peaks["apart"] = max(peaks["apart"], child.memory_info().rss / 2**20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--plan", help="a plan of your own in place of generated repositories")
    parser.add_argument("--tasks", type=int, default=2000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="devfix-cluster-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        address = f"tcp://127.0.0.1:{port}"
        commands = [
            ["scheduler", "--host", "127.0.0.1", "--port", port],
            *[["worker", address, "--no-nanny"]] * _WORKERS,
        ]
        started = []
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        try:
            for command in commands:
                whole = [sys.executable, "-m", "dask", *command, "--no-dashboard"]
                started.append(subprocess.Popen(whole, env=environment, cwd=folder, stderr=subprocess.DEVNULL))
            _runs(Path(folder), address, given, [process.pid for process in started])
        finally:
            for process in started:
                process.terminate()
                process.wait()


def _runs(folder: Path, address: str, given: argparse.Namespace, started: list[int]) -> None:
    from benchmarks import cluster  # by the name that workers know it by

    roles = {"client": [os.getpid()], "scheduler": started[:1], "workers": started[1:]}
    if given.plan is None:
        generate(folder / "all", given.repositories)
    made = {"mirrors": str(folder / "mirrors"), "scratch": str(folder / "scratch")}
    tasks = [replace(task, **made) for task in read_plan(given.plan or str(folder / "all"))]
    list(DaskEngine(address).run(tasks[:4], migrate, 0))  # everything is started and imported
    measure("repositories", address, tasks, migrate, roles)
    size = sum(path.lstat().st_size for path in (folder / "mirrors").rglob("*") if path.is_file())
    blocks = sum(path.lstat().st_blocks * 512 for path in (folder / "mirrors").rglob("*"))
    files = sum(1 for _ in (folder / "mirrors").rglob("*"))
    print(f"mirrors: {files / len(tasks):.0f} files and folders each")
    print(f"mirrors: {size / len(tasks) / 1024:.0f} kB each, {blocks / len(tasks) / 1024:.0f} kB on disk")
    endless = (Task(number, f"t{number}", "/", scratch=made["scratch"]) for number in range(given.tasks))
    measure("nothing", address, endless, cluster.nothing, roles)


if __name__ == "__main__":
    main()
