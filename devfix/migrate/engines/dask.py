"""The workers of a dask cluster: one that exists, or one of processes on this machine.

Only the public interface of ``distributed.Client`` is used (https://distributed.dask.org/en/stable/api.html).  The
scheduler knows a few repositories for each worker and no more, however long the plan is.  What it forgets when it ends
is handed in again.
"""

from __future__ import annotations

import logging
import pickle
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from devfix.migrate.engines import EngineError, on_worker
from devfix.migrate.engines.defer_interrupts import uninterrupted
from devfix.migrate.engines.local import cores
from devfix.migrate.engines.on_worker import Refusal, end, version
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DaskEngine"]

_AHEAD = 2  # tasks handed in for each worker: the next one is there when one is done
_FIRST = 30.0  # seconds for the first connection: an address may be wrong
_CONNECT = 10.0  # seconds for each further attempt
_LOOK = 2.0  # seconds between looks at how many workers there are
_LONGEST_PAUSE = 10.0  # seconds between attempts
_MOST_LOSSES = 20  # times that the scheduler may forget everything, with nothing done in between
_SILENT = logging.CRITICAL + 1
_GOODBYE = 5.0  # seconds for workers to hear that the run is over


class DaskEngine:
    """Hands repositories to a scheduler.

    Args:
        scheduler: its address (``tcp://…``, ``tls://…``); empty for a cluster of processes on this machine.
        patience: seconds without a scheduler, or without any worker, after which the run is given up.

    """

    def __init__(self, scheduler: str = "", patience: float = 300.0) -> None:
        self._scheduler = scheduler
        self._patience = patience

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """See :class:`devfix.migrate.engines.Engine`; with a scheduler, ``jobs`` is the most that are in work."""
        if find_spec("distributed") is None:
            raise EngineError("the dask engine needs dask.distributed: pip install 'devfix[dask]'")
        return self._records(iter(tasks), work, jobs)

    def _records(self, tasks: Iterator[Task], work: Work, jobs: int) -> Iterator[Record]:
        with ExitStack() as stack:
            _quiet()
            address = self._scheduler or stack.enter_context(_cluster(jobs or cores()))
            crew = stack.enter_context(closing(_Crew(address, work, jobs, self._patience)))
            yield from crew.records(tasks)


def _quiet() -> None:
    """What dask tells of connections we tell in a line; its threads speak after the end, too: it stays quiet."""
    import distributed  # noqa: F401  # sets up its loggers

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(_SILENT)


@contextmanager
def _cluster(jobs: int) -> Iterator[str]:
    """Processes on this machine, one task each; what a task may need of memory, the task says."""
    from distributed import LocalCluster

    with ExitStack() as stack:
        with uninterrupted():
            cluster = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=_SILENT,
                preload=[on_worker.__name__],
            )
            stack.enter_context(cluster)
        yield cluster.scheduler_address


class _Crew:
    """The workers behind one scheduler, and what they have been handed.

    Raises:
        EngineError: nobody answers, or a worker is of another version.

    """

    def __init__(self, address: str, work: Work, jobs: int, patience: float) -> None:
        self._address, self._work, self._jobs, self._patience = address, work, jobs, patience
        self._run = uuid.uuid4().hex[:12]
        self._flying: dict[str, tuple[Task, Future]] = {}
        self._ended: SimpleQueue[str] = SimpleQueue()
        self._sent = 0
        self._suspects: deque[Task] = deque()
        self._suspected: set[int] = set()
        self._suspect = ""  # the key of the one that is in flight
        self._losses = 0
        self._threads = 0
        self._seen = self._looked = time.monotonic()  # when there was a worker; when that was looked at
        self._client = self._connected(_FIRST)
        self._reach()

    def records(self, tasks: Iterator[Task]) -> Iterator[Record]:
        """A record for each task, in the order in which they end."""
        while True:
            if self._suspects and self._suspect not in self._flying:
                self._suspect = self._send(self._suspects.popleft())
            for task in islice(tasks, max(0, self._room() - len(self._flying))):
                self._send(task)
            if not self._flying:
                return
            yield from self._landed(self._wait())

    def close(self) -> None:
        """Take back what is in flight, and end who works on it."""
        goodbye = Thread(target=self._say_goodbye, daemon=True)  # a scheduler that hangs must not hold up anybody
        goodbye.start()
        goodbye.join(_GOODBYE)
        with suppress(OSError, RuntimeError, TimeoutError):
            self._client.close(timeout=_GOODBYE)

    def _say_goodbye(self) -> None:
        with suppress(OSError, RuntimeError, TimeoutError, CancelledError):
            if self._client.status == "running":
                if self._flying:
                    self._client.cancel([future for _, future in self._flying.values()], force=True)
                self._client.run(end, self._run, on_error="ignore")

    # --- out and back ---------------------------------------------------------------------------------------------
    def _room(self) -> int:
        """How many may be in flight."""
        now = time.monotonic()
        if now - self._looked >= _LOOK:
            self._looked = now
            self._count()
        return self._jobs or max(1, self._threads * _AHEAD)

    def _send(self, task: Task) -> str:
        self._sent += 1
        key = f"devfix-{self._run}-{self._sent}"
        errand = _errand(self._run, version(), pickle.dumps((self._work, task)))
        future = self._client.submit(errand, key=key, pure=False)
        self._flying[key] = task, future
        future.add_done_callback(lambda done: self._ended.put(done.key))
        return key

    def _wait(self) -> list[str]:
        """The keys of what has ended: all that have, and none after :data:`_LOOK` seconds."""
        found = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=_LOOK))
            while True:
                found.append(self._ended.get_nowait())
        return [key for key in found if key in self._flying]

    def _landed(self, keys: list[str]) -> Iterator[Record]:
        finished = [key for key in keys if self._flying[key][1].status == "finished"]
        again = []
        for key, answer in zip(finished, self._gathered(finished), strict=True):
            task, _ = self._flying.pop(key)
            if isinstance(answer, Refusal):
                raise EngineError(_mismatch({f"the worker {answer.worker}": answer.version}, version()))
            if answer is None:
                again.append(task)
                continue
            self._losses = 0
            yield answer
        for key in keys:
            if key in self._flying:
                task, future = self._flying.pop(key)
                if future.status == "error":
                    yield from self._failure(task, future)
                else:  # cancelled: the scheduler has gone, and may be back
                    again.append(task)
        if again:
            self._send_again(again)

    def _gathered(self, keys: list[str]) -> list[Any]:
        """The answers; None for those that went with the scheduler or with their worker."""
        if not keys:
            return []
        try:
            return list(self._client.gather([self._flying[key][1] for key in keys]))
        except (OSError, RuntimeError, TimeoutError, CancelledError):
            return [None] * len(keys)

    def _failure(self, task: Task, future: Future) -> Iterator[Record]:
        """Dask blames all that a lost worker had; so who is blamed is tried again, one after the other."""
        from distributed import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker) and task.number not in self._suspected:
            self._suspected.add(task.number)
            self._suspects.append(task)
            return
        if isinstance(error, KilledWorker):
            why = f"KilledWorker: twice {error.allowed_failures + 1} workers died while they had it"
            yield task.failed("fetch", why)
            return
        if isinstance(error, ImportError):
            raise EngineError(f"a worker of {self._address} cannot do the work ({error}): {_SAME}")
        yield task.failed("fetch", f"internal error: {type(error).__name__}: {error}")

    def _send_again(self, tasks: list[Task]) -> None:
        self._losses += 1
        if self._losses > _MOST_LOSSES:
            raise EngineError(
                f"the scheduler at {self._address} lost everything {_MOST_LOSSES} times in a row: its log says why"
            )
        self._reach()
        for task in tasks:
            self._send(task)

    # --- the connection -------------------------------------------------------------------------------------------
    def _connected(self, timeout: float) -> Client:
        from distributed import Client

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions we tell more, in fewer lines
            try:
                return Client(self._address, timeout=timeout, name="devfix")
            except (OSError, ValueError) as error:
                raise EngineError(
                    f"no scheduler answers at {self._address} within {timeout:g} s ({_line(error)})"
                ) from error

    def _reach(self) -> None:
        """Make sure of a connection, of the versions, and count the workers; try for as long as patience lasts."""
        began = time.monotonic()
        pause = 0.25
        while True:
            with suppress(EngineError, OSError, RuntimeError, TimeoutError):
                if self._client.status != "running":
                    self._client.close(timeout=_GOODBYE)  # dask's own attempts last as long as the first one might
                    self._client = self._connected(_CONNECT)
                found = self._client.get_versions(packages=["devfix"])
                break
            if time.monotonic() - began > self._patience:
                raise EngineError(
                    f"there has been no scheduler at {self._address} for {self._patience:g} s: start it, and start "
                    "this again: what is done stays done"
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._judge(found)
        self._count()

    def _judge(self, found: Any) -> None:
        ours = found["client"]["packages"]
        scheduler = {**found["scheduler"]["packages"], "devfix": ours["devfix"]}  # which only passes on what is pickled
        others = {f"the scheduler {self._address}": scheduler}
        others.update((f"the worker {who}", its["packages"]) for who, its in found["workers"].items())
        different = {who: _told(its) for who, its in others.items() if _told(its) != _told(ours)}
        if different:
            raise EngineError(_mismatch(different, _told(ours)))

    def _count(self) -> None:
        with suppress(OSError, RuntimeError, TimeoutError):
            self._threads = sum(self._client.nthreads().values())
        now = time.monotonic()
        if self._threads:
            self._seen = now
        elif now - self._seen > self._patience:
            raise EngineError(
                f"there has been no worker at {self._address} for {self._patience:g} s: start some "
                f"(dask worker {self._address} --nthreads 1), and start this again: what is done stays done"
            )


_SAME = "install the same versions of devfix, distributed and Python everywhere"


def _errand(run: str, wanted: str, content: bytes) -> Callable[[], Record | Refusal]:
    """What travels: a function that is pickled with its code, since the scheduler reads it and may have no devfix.

    What it holds is not among its arguments: a source may hold credentials, and clusters log arguments.
    """

    def migrate() -> Record | Refusal:
        from devfix.migrate.engines.on_worker import work_on

        return work_on(run, wanted, content)

    return migrate


def _told(packages: dict[str, str | None]) -> str:
    python = ".".join(str(packages["python"]).split(".")[:2])
    devfix = f"devfix {packages['devfix']}" if packages["devfix"] else "no devfix"
    return f"{devfix}, distributed {packages['distributed']}, Python {python}"


def _mismatch(different: dict[str, str], ours: str) -> str:
    who, its = next(iter(different.items()))
    more = f" (and {len(different) - 1} more differ)" if len(different) > 1 else ""
    return f"{who} has {its}{more}; here is {ours}: {_SAME}"


def _line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
