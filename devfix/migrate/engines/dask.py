"""Engine for Dask clusters: an existing one, or processes on this machine.

It uses only the public interface of ``distributed.Client`` (https://distributed.dask.org/en/stable/api.html).  The
scheduler holds a few repositories for each worker, however long the plan is; they are submitted again if it restarts.
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
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from devfix.migrate.engines import EngineError, on_worker
from devfix.migrate.engines.affinity import Affinity
from devfix.migrate.engines.defer_interrupts import uninterrupted
from devfix.migrate.engines.local import cpu_count
from devfix.migrate.engines.on_worker import Refusal, end_run, worker_version
from devfix.migrate.record import Record
from devfix.migrate.task import Task, Work

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DaskEngine"]

_QUEUED_PER_WORKER = 2  # so that a worker never waits for its next task
_FIRST_TIMEOUT_S = 30.0  # for the first connection: the address may be wrong
_RECONNECT_TIMEOUT_S = 10.0
_POLL_INTERVAL_S = 2.0  # between queries of the number of workers
_MAX_PAUSE_S = 10.0  # between connection attempts
_MAX_LOSSES = 20  # times the scheduler may lose all tasks without a result in between
_SILENT = logging.CRITICAL + 1
_SHUTDOWN_TIMEOUT_S = 5.0


class DaskEngine:
    """Submit repositories to a scheduler.

    Args:
        scheduler: its address (``tcp://…``, ``tls://…``); empty for a cluster of processes on this machine.
        patience: the time in seconds without a scheduler or a worker after which the run fails.

    """

    def __init__(self, scheduler: str = "", patience: float = 300.0) -> None:
        self._scheduler = scheduler
        self._patience = patience

    def run(self, tasks: Iterable[Task], work: Work, jobs: int) -> Iterator[Record]:
        """See :class:`devfix.migrate.engines.Engine`; with a scheduler, ``jobs`` limits the tasks in flight."""
        if find_spec("distributed") is None:
            raise EngineError("the dask engine needs dask.distributed: pip install 'devfix[dask]'")
        return self._records(iter(tasks), work, jobs)

    def _records(self, tasks: Iterator[Task], work: Work, jobs: int) -> Iterator[Record]:
        with ExitStack() as stack:
            _silence_logs()
            address = self._scheduler or stack.enter_context(_cluster(jobs or cpu_count()))
            session = stack.enter_context(closing(_Session(address, work, jobs, self._patience)))
            yield from session.records(tasks)


def _silence_logs() -> None:
    """Silence Dask's logs: connection errors are reported in one line, and its threads log even after the end."""
    import distributed  # noqa: F401  # sets up its loggers

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(_SILENT)


@contextmanager
def _cluster(jobs: int) -> Iterator[str]:
    """Start processes on this machine, with one task each; tasks limit their memory themselves."""
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


class _Session:
    """The tasks in flight at one scheduler.

    Raises:
        EngineError: the scheduler does not respond, or a worker has another version.

    """

    def __init__(self, address: str, work: Work, jobs: int, patience: float) -> None:
        self._address, self._work, self._jobs, self._patience = address, work, jobs, patience
        self._run = uuid.uuid4().hex[:12]
        self._in_flight: dict[str, tuple[Task, Future]] = {}
        self._hosts: dict[str, str] = {}  # of tasks in flight
        self._threads_of: dict[str, int] = {}  # by host
        self._completed: SimpleQueue[str] = SimpleQueue()
        self._sent = 0
        self._suspects: deque[Task] = deque()
        self._suspected: set[int] = set()
        self._current_suspect = ""  # the key of the suspect in flight
        self._losses = 0
        self._threads = 0
        self._last_worker = self._last_poll = time.monotonic()
        self._client = self._connect(_FIRST_TIMEOUT_S)
        self._ensure_connection()

    def records(self, tasks: Iterator[Task]) -> Iterator[Record]:
        """Yield a record for each task, in the order of completion."""
        affinity = Affinity(tasks)
        while True:
            if self._suspects and self._current_suspect not in self._in_flight:
                self._current_suspect = self._send(self._suspects.popleft())
            self._fill(affinity)
            if not self._in_flight:
                return
            yield from self._collect(self._completed_keys())

    def close(self) -> None:
        """Cancel the tasks in flight, and end the workers' subprocesses."""
        shutdown = Thread(target=self._cancel_all, daemon=True)  # in a thread, because the scheduler may hang
        shutdown.start()
        shutdown.join(_SHUTDOWN_TIMEOUT_S)
        with suppress(OSError, RuntimeError, TimeoutError):
            self._client.close(timeout=_SHUTDOWN_TIMEOUT_S)

    def _cancel_all(self) -> None:
        with suppress(OSError, RuntimeError, TimeoutError, CancelledError):
            if self._client.status == "running":
                if self._in_flight:
                    self._client.cancel([future for _, future in self._in_flight.values()], force=True)
                self._client.run(end_run, self._run, on_error="ignore")

    # --- sending and receiving ------------------------------------------------------------------------------------
    def _capacity(self) -> int:
        """Return the maximum number of tasks in flight."""
        now = time.monotonic()
        if now - self._last_poll >= _POLL_INTERVAL_S:
            self._last_poll = now
            self._count_threads()
        return self._jobs or max(1, self._threads * _QUEUED_PER_WORKER)

    def _fill(self, affinity: Affinity) -> None:
        """Send tasks until the capacity is used, first to the host with the most free places."""
        capacity = self._capacity()
        threads = self._threads_of or {"": 1}  # without a worker, the scheduler holds a task until there is one
        affinity.set_hosts(threads)
        free = {host: count * _QUEUED_PER_WORKER for host, count in threads.items()}
        for host in self._hosts.values():
            free[host] = free.get(host, 0) - 1
        for _ in range(capacity - len(self._in_flight)):
            host = max(threads, key=free.__getitem__)
            task = affinity.take(host, capacity)
            if task is None:
                return
            free[host] -= 1
            self._send(task, host)

    def _send(self, task: Task, host: str = "") -> str:
        """Submit a task, preferably to the workers of a host; others take it if that host is gone or busy."""
        self._sent += 1
        key = f"devfix-{self._run}-{self._sent}"
        remote_call = _remote_call(self._run, worker_version(), pickle.dumps((self._work, task)))
        preferred = [host] if host else None
        future = self._client.submit(
            remote_call, key=key, pure=False, workers=preferred, allow_other_workers=preferred is not None
        )
        self._in_flight[key] = task, future
        self._hosts[key] = host
        future.add_done_callback(lambda done: self._completed.put(done.key))
        return key

    def _completed_keys(self) -> list[str]:
        """Return the keys of all completed tasks; none after :data:`_POLL_INTERVAL_S` seconds."""
        found = []
        with suppress(Empty):
            found.append(self._completed.get(timeout=_POLL_INTERVAL_S))
            while True:
                found.append(self._completed.get_nowait())
        return [key for key in found if key in self._in_flight]

    def _collect(self, keys: list[str]) -> Iterator[Record]:
        finished = [key for key in keys if self._in_flight[key][1].status == "finished"]
        resend = []
        for key, answer in zip(finished, self._gather(finished), strict=True):
            task, _ = self._landed(key)
            if isinstance(answer, Refusal):
                raise EngineError(_mismatch({f"the worker {answer.worker}": answer.version}, worker_version()))
            if answer is None:
                resend.append(task)
                continue
            self._losses = 0
            yield answer
        for key in keys:
            if key in self._in_flight:
                task, future = self._landed(key)
                if future.status == "error":
                    yield from self._failure(task, future)
                else:  # cancelled: the connection to the scheduler was lost
                    resend.append(task)
        if resend:
            self._resend(resend)

    def _landed(self, key: str) -> tuple[Task, Future]:
        self._hosts.pop(key, None)
        return self._in_flight.pop(key)

    def _gather(self, keys: list[str]) -> list[Any]:
        """Return the results; None for those lost with the scheduler or their worker."""
        if not keys:
            return []
        try:
            return list(self._client.gather([self._in_flight[key][1] for key in keys]))
        except (OSError, RuntimeError, TimeoutError, CancelledError):
            return [None] * len(keys)

    def _failure(self, task: Task, future: Future) -> Iterator[Record]:
        """Retry the tasks of a lost worker one at a time: Dask blames all tasks that it had."""
        from distributed import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker) and task.number not in self._suspected:
            self._suspected.add(task.number)
            self._suspects.append(task)
            return
        if isinstance(error, KilledWorker):
            reason = f"KilledWorker: twice {error.allowed_failures + 1} workers died while processing it"
            yield task.failed("fetch", reason)
            return
        if isinstance(error, ImportError):
            raise EngineError(f"a worker of {self._address} cannot run the task ({error}): {_INSTALL_HINT}")
        yield task.failed("fetch", f"internal error: {type(error).__name__}: {error}")

    def _resend(self, tasks: list[Task]) -> None:
        self._losses += 1
        if self._losses > _MAX_LOSSES:
            raise EngineError(
                f"the scheduler at {self._address} lost all tasks {_MAX_LOSSES} times in a row: see its log"
            )
        self._ensure_connection()
        for task in tasks:
            self._send(task)

    # --- the connection -------------------------------------------------------------------------------------------
    def _connect(self, timeout: float) -> Client:
        from distributed import Client

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of version mismatches, which are reported below
            try:
                return Client(self._address, timeout=timeout, name="devfix")
            except (OSError, ValueError) as error:
                raise EngineError(
                    f"no scheduler responds at {self._address} within {timeout:g} s ({_first_line(error)})"
                ) from error

    def _ensure_connection(self) -> None:
        """Connect, check versions, and count the workers; retry until the patience is exhausted."""
        began = time.monotonic()
        pause = 0.25
        while True:
            with suppress(EngineError, OSError, RuntimeError, TimeoutError):
                if self._client.status != "running":
                    self._client.close(timeout=_SHUTDOWN_TIMEOUT_S)  # to set a shorter timeout
                    self._client = self._connect(_RECONNECT_TIMEOUT_S)
                found = self._client.get_versions(packages=["devfix"])
                break
            if time.monotonic() - began > self._patience:
                raise EngineError(
                    f"there has been no scheduler at {self._address} for {self._patience:g} s: start it, and run the "
                    "same command again; finished repositories are kept"
                )
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_S)
        self._check_versions(found)
        self._count_threads()

    def _check_versions(self, found: Any) -> None:
        ours = found["client"]["packages"]
        scheduler = {**found["scheduler"]["packages"], "devfix": ours["devfix"]}  # it needs no devfix
        others = {f"the scheduler {self._address}": scheduler}
        others.update((f"the worker {name}", versions["packages"]) for name, versions in found["workers"].items())
        own = _format_versions(ours)
        formatted = {name: _format_versions(versions) for name, versions in others.items()}
        mismatches = {name: versions for name, versions in formatted.items() if versions != own}
        if mismatches:
            raise EngineError(_mismatch(mismatches, own))

    def _count_threads(self) -> None:
        with suppress(OSError, RuntimeError, TimeoutError):
            found = self._client.nthreads()
            self._threads = sum(found.values())
            self._threads_of = {}
            for address, threads in found.items():
                host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
                self._threads_of[host] = self._threads_of.get(host, 0) + threads
        now = time.monotonic()
        if self._threads:
            self._last_worker = now
        elif now - self._last_worker > self._patience:
            raise EngineError(
                f"there has been no worker at {self._address} for {self._patience:g} s: start one (dask worker "
                f"{self._address} --nthreads 1), and run the same command again; finished repositories are kept"
            )


_INSTALL_HINT = "install the same versions of devfix, distributed and Python everywhere"


def _remote_call(run: str, wanted: str, content: bytes) -> Callable[[], Record | Refusal]:
    """Return a function that is pickled by value, because the scheduler deserializes it and may have no devfix.

    Its data is in a closure, not in arguments: a source may contain credentials, and clusters log arguments.
    """

    def migrate() -> Record | Refusal:
        from devfix.migrate.engines.on_worker import run_task

        return run_task(run, wanted, content)

    return migrate


def _format_versions(packages: dict[str, str | None]) -> str:
    python = ".".join(str(packages["python"]).split(".")[:2])
    devfix = f"devfix {packages['devfix']}" if packages["devfix"] else "no devfix"
    return f"{devfix}, distributed {packages['distributed']}, Python {python}"


def _mismatch(mismatches: dict[str, str], ours: str) -> str:
    name, versions = next(iter(mismatches.items()))
    rest = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
    return f"{name} has {versions}{rest}; this machine has {ours}: {_INSTALL_HINT}"


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
