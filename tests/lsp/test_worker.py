"""The order of work, and how it is given up."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from devfix.lsp.server import Server
from devfix.lsp.settings import Wishes, load
from devfix.lsp.worker import Stale, Worker


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.end()


class Held:
    """A job that waits until it is let go, asking all the while whether it is still wanted."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.free = threading.Event()
        self.starts = 0

    def __call__(self, still_wanted) -> str:
        self.starts += 1
        self.begun.set()
        while not self.free.wait(0.001):
            still_wanted()
        return "done"


def test_lower_ranks_come_first_and_then_the_order_of_asking(worker):
    held, order = Held(), []
    worker.submit(0, "held", held)
    held.begun.wait(5)
    futures = [
        worker.submit(rank, name, lambda _, name=name: order.append(name))
        for rank, name in ((2, "c"), (1, "a"), (1, "b"))
    ]

    held.free.set()
    for future in futures:
        future.result(5)

    assert order == ["a", "b", "c"]


def test_a_job_takes_the_place_of_one_with_its_key(worker):
    held = Held()
    running = worker.submit(0, "file", held)
    held.begun.wait(5)
    waiting = worker.submit(0, "file", lambda _: "second")
    last = worker.submit(0, "file", lambda _: "third")

    assert last.result(5) == "third"
    for replaced in (running, waiting):
        with pytest.raises(CancelledError):
            replaced.result(5)


def test_a_patient_job_gives_way_and_is_done_again(worker):
    held = Held()
    patient = worker.submit(Worker.PATIENT, "rest", held)
    held.begun.wait(5)

    assert worker.submit(1, "question", lambda _: "answer").result(5) == "answer"

    held.free.set()
    assert patient.result(5) == "done"
    assert held.starts == 2


def test_what_is_cancelled_ends(worker):
    held = Held()
    running = worker.submit(1, "question", held)
    held.begun.wait(5)

    running.cancel()

    assert worker.submit(1, "other", lambda _: "answer").result(5) == "answer"


def test_a_crash_belongs_to_who_asked(worker):
    def crash(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        worker.submit(0, "a", crash).result(5)
    assert worker.submit(0, "b", lambda _: 1).result(5) == 1


def test_stale_passes_through_what_catches_exceptions():
    assert not issubclass(Stale, Exception)


def test_deep_programs_fit_on_the_stack(worker):
    def depth(_):
        import sys

        def down(left: int) -> int:
            return 0 if not left else 1 + down(left - 1)

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(9_000)
        try:
            return down(8_000)
        finally:
            sys.setrecursionlimit(limit)

    assert worker.submit(0, "deep", depth).result(20) == 8_000


def test_threads_that_ask_for_a_project_at_once_get_the_same(tmp_path, monkeypatch):
    asked = threading.Barrier(2)

    def slow(folder, wishes):
        with contextlib.suppress(threading.BrokenBarrierError):
            asked.wait(0.2)  # without a lock both threads are in here
        return load(folder, wishes)

    monkeypatch.setattr("devfix.lsp.server.load", slow)
    server = Server()
    try:
        with ThreadPoolExecutor(2) as threads:
            one, two = (threads.submit(server._made, str(tmp_path), True, Wishes()) for _ in range(2))
            assert one.result() is two.result() is server.projects[str(tmp_path), True]
    finally:
        server.worker.end()
