"""A cluster's workers, and its scheduler, may go at any moment; a repository costs at most itself."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from migrate.dying import work

import codemods
import devfix
from devfix.migrate.engines import EngineError, dask
from devfix.migrate.engines.dask import DaskEngine
from devfix.migrate.engines.local import LocalEngine
from devfix.migrate.task import Task
from devfix.migrate.work import migrate

TESTS = Path(__file__).parent.parent

#: Each starts a scheduler and workers, which takes seconds: ``nox -s dask`` runs them all.
whole_cluster = pytest.mark.skipif("DEVFIX_ALL_DASK" not in os.environ, reason="nox -s dask runs it")


class Cluster:
    """A scheduler and workers on loopback, each a process of its own."""

    def __init__(self, logs):
        self.logs = logs
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = None
        self.workers = []
        self._all = []

    def start_scheduler(self):
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))

    def start_worker(self, *options, **more):
        worker = self._start("worker", self.address, "--nthreads", "1", *options, **more)
        self.workers.append(worker)
        return worker

    def log(self):
        return "\n".join(path.read_text() for path in sorted(self.logs.glob("*.log")))

    def end(self):
        for process in self._all:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, *arguments, **more):
        environment = {
            **os.environ,
            "PYTHONPATH": f"{TESTS.parent}:{TESTS}",  # the code beside these tests
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "DASK_TEMPORARY_DIRECTORY": str(self.logs),
            **more,
        }
        log = self.logs / f"{len(self._all)}-{arguments[0]}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
                cwd=self.logs,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._all.append(process)
        return process


@pytest.fixture
def cluster(tmp_path):
    """A scheduler; workers are started by who needs them."""
    logs = tmp_path / "logs"
    logs.mkdir()
    made = Cluster(logs)
    made.start_scheduler()
    yield made
    made.end()


def tasks(*words, scratch, **changes):
    return [Task(number, f"t{number}", word, scratch=str(scratch), **changes) for number, word in enumerate(words)]


def by_number(records):
    return sorted(records, key=lambda record: record.number)


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(holds, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)


@pytest.mark.thorough
def test_without_a_scheduler_there_are_processes_on_this_machine(tmp_path, task):
    bad = Task(1, "bad", str(tmp_path / "nowhere"), mirrors=task.mirrors, scratch=task.scratch)

    records = by_number(DaskEngine().run([task, bad], migrate, 1))

    assert [record.outcome.value for record in records] == ["fixed", "failed"]
    assert "to(device)" in records[0].patch


def test_what_is_missing_is_one_line(monkeypatch):
    monkeypatch.setattr(dask, "find_spec", lambda name: None)

    with pytest.raises(EngineError, match=r"pip install 'devfix\[dask\]'"):
        DaskEngine("tcp://127.0.0.1:1").run([], work, 1)


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(dask, "_FIRST_TIMEOUT_S", 0.5)

    with pytest.raises(EngineError, match=r"no scheduler responds at tcp://127\.0\.0\.1:1 within 0\.5 s") as told:
        list(DaskEngine("tcp://127.0.0.1:1").run([], work, 1))

    assert "\n" not in str(told.value)


@pytest.mark.thorough
def test_a_lost_worker_loses_nothing(cluster, task):
    for _ in range(2):
        cluster.start_worker("--no-nanny")
    given = [replace(task, number=number) for number in range(12)]
    records = []

    for record in DaskEngine(cluster.address).run(given, migrate, 0):
        records.append(record)
        if len(records) == 4:
            cluster.workers[0].kill()

    expected = by_number(LocalEngine().run(given[:1], migrate, 1))[0]
    same = {"number": 0, "seconds": 0.0, "timings": None, "cpu_s": 0.0, "memory_mb": 0.0}
    assert [record.number for record in by_number(records)] == list(range(12))
    assert {replace(record, **same).line() for record in records} == {replace(expected, **same).line()}


@whole_cluster
def test_a_loss_costs_one_repository(cluster, tmp_path):
    cluster.start_worker()  # with dask's nanny, which replaces it
    words = ["fine", "killed", "kills its worker", "hangs", "https://me:hush-hush@example.org/a", "raises#hush-hush"]

    records = by_number(DaskEngine(cluster.address).run(tasks(*words, scratch=tmp_path, timeout=3.0), work, 0))

    assert [record.outcome.value for record in records] == ["clean", *["failed"] * 3, "clean", "failed"]
    assert "low memory" in records[1].reason and records[1].stage == "scan"
    assert records[2].reason == "KilledWorker: twice 2 workers died while processing it"
    assert "longer than 3 s" in records[3].reason
    assert "never mind" in records[5].reason
    assert "hush-hush" not in cluster.log()


@whole_cluster
def test_the_scheduler_may_start_again(cluster, tmp_path):
    for _ in range(2):
        cluster.start_worker("--no-nanny")
    numbers = []

    for record in DaskEngine(cluster.address).run(tasks(*["sleeps#0.2"] * 30, scratch=tmp_path), work, 0):
        numbers.append(record.number)
        if len(numbers) == 5:
            cluster.scheduler.kill()
            cluster.scheduler.wait()
            cluster.start_scheduler()
            cluster.start_worker("--no-nanny")

    assert sorted(numbers) == list(range(30))


@whole_cluster
def test_a_scheduler_that_stays_away_ends_the_run(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "_RECONNECT_TIMEOUT_S", 0.5)
    cluster.start_worker("--no-nanny")
    records = DaskEngine(cluster.address, patience=1.0).run(tasks(*["fine"] * 30, scratch=tmp_path), work, 0)
    next(records)

    cluster.scheduler.kill()

    with pytest.raises(
        EngineError, match=r"there has been no scheduler at .* for 1 s: .* finished repositories are kept"
    ):
        list(records)


@whole_cluster
def test_a_cluster_without_workers_ends_the_run(cluster, tmp_path):
    with pytest.raises(EngineError, match=r"no worker at .* for 1 s: start one"):
        list(DaskEngine(cluster.address, patience=1.0).run(tasks("fine", scratch=tmp_path), work, 0))


@whole_cluster
def test_a_worker_with_other_code_ends_the_run(cluster, tmp_path):
    other = tmp_path / "other"
    for package in (devfix.__path__[0], codemods.__path__[0]):
        shutil.copytree(package, other / Path(package).name)
    with open(other / "devfix" / "model.py", "a") as model:
        model.write("# another\n")
    cluster.start_worker("--no-nanny", PYTHONPATH=f"{other}:{TESTS}")

    with pytest.raises(
        EngineError, match=r"the worker tcp://\S+ has devfix \S+ \(code .*; this machine has devfix .*: install"
    ):
        list(DaskEngine(cluster.address).run(tasks("fine", scratch=tmp_path), work, 0))


@whole_cluster
def test_interrupted_it_ends_what_is_in_flight_and_hands_in_no_more_than_needed(cluster, tmp_path):
    cluster.start_worker("--no-nanny")
    taken = []

    def endless():
        for number in range(1_000_000):
            taken.append(number)
            yield Task(number, f"t{number}", "fine" if number < 3 else "tells", scratch=str(tmp_path))

    records = DaskEngine(cluster.address).run(endless(), work, 0)
    for _ in range(3):
        next(records)
    eventually(lambda: "process " in cluster.log())
    working = int(cluster.log().rpartition("process ")[2].split()[0])
    assert alive(working)
    records.close()

    assert len(taken) < 10
    eventually(lambda: not alive(working))
    assert [
        record.outcome.value for record in DaskEngine(cluster.address).run(tasks("fine", scratch=tmp_path), work, 0)
    ] == ["clean"]


@whole_cluster
def test_the_command_goes_on_where_a_cluster_was_interrupted(cluster, make, broken, tmp_path):
    cluster.start_worker("--no-nanny")
    for number in range(40):
        make(tmp_path / "all" / f"r{number}", {"train.py": broken})
    command = [sys.executable, "-m", "devfix", "migrate", "all", "--scheduler", cluster.address]
    environment = {**os.environ, "DEVFIX_CACHE_DIR": str(tmp_path / "cache")}

    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as first:
        first.stdout.readline()  # one is done
        first.send_signal(signal.SIGINT)
        told = first.stderr.read()
    second = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert first.returncode == 130, told
    assert "to continue" in told and "Traceback" not in told
    assert second.returncode == 0, second.stderr
    assert "40 repositories, 40 fixed" in second.stdout and "from earlier runs" in second.stdout
