"""A worker keeps a process beside it, as long as that is worth keeping."""

import builtins
import os
import pickle

import pytest

from devfix.migrate.engines import on_worker, subprocess_worker
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.migrate.task import Task

_kept = []


def work(task):
    if task.source == "large":
        _kept.append(bytearray(b"x") * (300 << 20))
    return Record(task.number, task.name, task.source, RepositoryOutcome.CLEAN, log=str(os.getpid()))


@pytest.fixture
def done(tmp_path, monkeypatch):
    """Works on a repository, and tells in which process."""
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))

    def do(source):
        content = pickle.dumps((work, Task(0, "t", source, scratch=str(tmp_path))))
        return int(on_worker.run_task("run", on_worker.worker_version(), content).log)

    yield do
    on_worker.end_run("run")
    on_worker._ended_runs.clear()


def test_the_process_goes_on_with_the_next_one(done):
    assert len({done("small") for _ in range(3)}) == 1


def test_one_that_keeps_much_memory_is_replaced(done):
    first, second, third = done("small"), done("large"), done("small")

    assert first == second != third


def test_where_memory_cannot_be_looked_at_it_is_replaced_after_some(done, monkeypatch):
    open_file = builtins.open

    def no_proc(path, *arguments, **more):
        if str(path).startswith("/proc/"):
            raise FileNotFoundError(path)
        return open_file(path, *arguments, **more)

    monkeypatch.setattr(builtins, "open", no_proc)
    monkeypatch.setattr(subprocess_worker, "_MAX_TASKS", 2)

    processes = [done("small") for _ in range(4)]

    assert processes[0] == processes[1] != processes[2] == processes[3]
