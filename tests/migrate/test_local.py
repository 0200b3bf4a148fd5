"""A worker that dies, is killed or hangs costs its repository only, and is replaced."""

import os
import signal
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import pytest

from devfix.migrate.engines import local
from devfix.migrate.engines.local import LocalEngine
from devfix.migrate.engines.preloaded import MODULES
from devfix.migrate.progress import Stages
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.migrate.task import Task, Verification
from devfix.migrate.work import migrate


def work(task):
    """What the worker does is what the repository is called."""
    stages = Stages(task.scratch, task.number, task.name)
    stages.enter("scan")
    if task.source == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif task.source == "left":
        os._exit(3)
    elif task.source == "hangs":
        time.sleep(600)
    elif task.source == "raises":
        raise ValueError("never mind")
    stages.end()
    return Record(task.number, task.name, task.source, RepositoryOutcome.CLEAN, log=str(os.getpid()))


def tasks(*words, scratch, **changes):
    return [Task(number, word, word, scratch=str(scratch), **changes) for number, word in enumerate(words)]


def test_each_loss_costs_one_repository(tmp_path):
    words = ["fine", "killed", "fine", "hangs", "left", "raises", "fine", "fine"]

    records = sorted(LocalEngine().run(tasks(*words, scratch=tmp_path, timeout=2.0), work, 2), key=lambda r: r.number)

    outcomes = [record.outcome.value for record in records]
    assert outcomes == ["clean" if word == "fine" else "failed" for word in words]
    reasons = {record.repository: (record.stage, record.reason) for record in records}
    assert reasons["killed"][0] == "scan" and "low memory" in reasons["killed"][1]
    assert "longer than 2 s" in reasons["hangs"][1]
    assert "exited with code 3" in reasons["left"][1]
    assert "never mind" in reasons["raises"][1]


class Pool:
    """A pool that breaks: a worker was killed while it held what all of them share."""

    def __init__(self, broken):
        self.broken = broken

    def schedule(self, work, args, timeout):
        future = Future()
        if self.broken:
            future.set_exception(BrokenProcessPool("a lock is lost"))
        else:
            future.set_result(Record(args[0].number, args[0].name, args[0].source, RepositoryOutcome.CLEAN))
        return future

    def stop(self):
        self.broken = True

    def join(self):
        pass


@pytest.mark.parametrize(("breaks", "outcome"), [(1, "clean"), (1000, "failed")], ids=["once", "for ever"])
def test_a_pool_that_breaks_is_made_anew_and_not_for_ever(tmp_path, monkeypatch, breaks, outcome):
    made = []
    monkeypatch.setattr(local, "_pool", lambda jobs: made.append(jobs) or Pool(len(made) <= breaks))

    records = list(LocalEngine().run(tasks(*["fine"] * 5, scratch=tmp_path), work, 2))

    assert [record.outcome.value for record in records] == [outcome] * 5
    assert len(made) < 10


def test_tasks_are_taken_as_they_are_needed(tmp_path):
    taken = []

    def endless():
        for number in range(1_000_000):
            taken.append(number)
            yield Task(number, "fine", "fine", scratch=str(tmp_path))

    records = LocalEngine().run(endless(), work, 1)
    for _ in range(3):
        next(records)
    records.close()

    assert len(taken) < 20


def tell_modules(task):
    return Record(task.number, task.name, task.source, RepositoryOutcome.CLEAN, log=" ".join(sys.modules))


def test_a_worker_has_imported_what_it_needs_before_it_starts(tmp_path):
    (record,) = LocalEngine().run(tasks("fine", scratch=tmp_path), tell_modules, 1)

    assert set(MODULES) <= set(record.log.split())


@pytest.mark.parametrize("jobs", [1, 2])
def test_two_workers_are_two_processes(tmp_path, jobs):
    given = [replace(task, source="fine") for task in tasks(*["fine"] * 20, scratch=tmp_path)]

    processes = {record.log for record in LocalEngine().run(given, work, jobs)}

    assert 1 <= len(processes) <= jobs


@pytest.mark.thorough
def test_a_script_that_hangs_ends_with_its_worker_and_leaves_nothing_in_the_way(tmp_path, make, broken):
    hangs = f"import time\n{broken}\ntime.sleep(3600)\n"
    make(tmp_path / "project", {"hangs.py": hangs})
    folders = {"mirrors": str(tmp_path / "mirrors"), "scratch": str(tmp_path / "scratch")}
    verification = Verification("hangs.py", device="sim", timeout=600.0)
    task = Task(0, "hangs", str(tmp_path / "project"), timeout=10.0, verification=verification, **folders)

    (record,) = LocalEngine().run([task], migrate, 1)

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "verify")
    assert "longer than 10 s" in record.reason
    deadline = time.monotonic() + 20
    while (left := started_in(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


def started_in(folder):
    """Processes whose working directory lies in a folder."""
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/cwd").startswith(f"{folder}/"):
                found.append(process)
        except OSError:
            continue
    return found
