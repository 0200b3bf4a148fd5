"""Supervisor: the process between the fork server and a run.

It confines the run, enforces its limits, and ends all of its processes.  A run may fork, leave its process group, kill
its parent and write without limit.  The supervisor is outside the run's process namespace, whose end kills every
process in it; without a namespace, the supervisor adopts every orphan of the run.

Imports the standard library only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from .confinement import Confinement, FileView

__all__ = ["DEFAULT_DISK_MB", "DEFAULT_PROCESSES", "Limits", "adopt_orphans", "children", "supervise"]

DEFAULT_DISK_MB = 16 << 10
DEFAULT_PROCESSES = 512

_TICK_SECONDS = 0.05
_SLOW_CHECK_SECONDS = 0.5
_READY = b"ready\n"

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36

_exit = os._exit  # before the run replaces it


class Limits(NamedTuple):
    """Limits of a run: seconds, megabytes of memory and of disk (for all its processes together), and processes."""

    seconds: float
    memory_mb: int
    disk_mb: int = DEFAULT_DISK_MB
    processes: int = DEFAULT_PROCESSES

    def impose(self, reserved_mb: int) -> None:
        """Set the kernel's limits per process; a driver may reserve ``reserved_mb`` of memory without using it."""
        memory, disk = (self.memory_mb + reserved_mb) << 20, self.disk_mb << 20
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process (Linux only; no effect on other systems)."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent dies."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent dies."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children(pid: int | str) -> list[int]:
    """Return the child processes of a process, from ``/proc``; empty without ``/proc``."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as listed:
                found += [int(each) for each in listed.read().split()]
    return found


def _descendants(pid: int | str) -> Iterator[int]:
    waiting = children(pid)
    while waiting:
        each = waiting.pop()
        yield each
        waiting += children(each)


def _resident_mb(pid: int) -> float:
    with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/statm") as source:
        return int(source.read().split()[1]) * resource.getpagesize() / (1 << 20)
    return 0.0


def _proportional_mb(pid: int) -> tuple[float, float]:
    """Return the proportional set size of a process, and its part in shared memory; shared pages count in part."""
    sizes = {}
    with suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup") as lines:
        for line in lines:
            name, size = line.split()[:2]
            if name in ("Pss:", "Pss_Shmem:"):
                sizes[name] = int(size) / 1024
    return sizes.get("Pss:", _resident_mb(pid)), sizes.get("Pss_Shmem:", 0.0)


def _disk_mb(folder: str, left_out: Collection[str]) -> float:
    """Return the size of a folder without some of the folders in it."""
    total = 0
    for current, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(current, name) not in left_out]
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(current, name)).st_blocks * 512
    return total / (1 << 20)


def _free_mb(folder: str) -> float:
    with suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize / (1 << 20)
    return 0.0


def _used_mb(folder: str) -> float:
    with suppress(OSError):
        found = os.statvfs(folder)
        return (found.f_blocks - found.f_bfree) * found.f_frsize / (1 << 20)
    return 0.0


class _LimitMonitor:
    """Monitor of a run's limits."""

    def __init__(self, limits: Limits, view: FileView, isolated: Collection[str]) -> None:
        self._limits = limits
        self._folder = view.folder
        self._caches = {target for _, target in view.caches}
        self._has_own_processes = "processes" in isolated  # /proc shows only the run's processes
        self._has_own_files = "files" in isolated  # and shared memory
        self._deadline = time.monotonic() + limits.seconds
        self._free = _free_mb(view.folder)
        self._next_slow = 0.0

    def _processes(self) -> list[int]:
        if self._has_own_processes:
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        return list(_descendants("self"))

    def violation(self) -> str | None:
        """Return the exceeded limit, as a sentence or ``time``; None if the run is within its limits."""
        now, limits = time.monotonic(), self._limits
        if now > self._deadline:
            return "time"
        processes = self._processes()
        if len(processes) > limits.processes:
            return f"it started more than {limits.processes} processes"
        if now < self._next_slow:
            return None
        self._next_slow = now + _SLOW_CHECK_SECONDS
        if self._memory_exceeds(limits.memory_mb, processes):
            return f"it used more than {limits.memory_mb} MB of memory"
        if (
            self._free - _free_mb(self._folder) > limits.disk_mb / 2
            and _disk_mb(self._folder, self._caches) > limits.disk_mb
        ):
            return f"it wrote more than {limits.disk_mb} MB to disk"
        return None

    def _memory_exceeds(self, limit: int, processes: list[int]) -> bool:
        """Return whether the processes and the files in shared memory use more than ``limit`` MB together."""
        files = _used_mb("/dev/shm") if self._has_own_files else 0.0
        if sum(map(_resident_mb, processes)) + files <= limit:
            return False
        sizes = [_proportional_mb(pid) for pid in processes]
        mapped = sum(shared for _, shared in sizes)
        return sum(size for size, _ in sizes) + max(0.0, files - mapped) > limit


def _wait_for_child() -> None:
    """Sleep for one tick, or until a child ends."""
    wait = getattr(signal, "sigtimedwait", None)
    if wait is None:  # macOS
        time.sleep(_TICK_SECONDS / 5)
    else:
        wait({signal.SIGCHLD}, _TICK_SECONDS)


def _end_orphans() -> None:
    """Kill every descendant; orphans become children of this process."""
    for _ in range(100):
        left = list(_descendants("self"))
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        _reap()
        if not left:
            return
        time.sleep(0.01)


def _reap(until: int | None = None) -> int | None:
    """Wait for ended children; return the wait status of ``until`` if it is one of them."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == until:
                return status
    return None


def _run_init(confinement: Confinement, status_write: int, start: Callable[[], None]) -> None:
    """Become the init process of a namespace: start the run and adopt its orphans; its exit ends the namespace."""
    confinement.mount_proc()
    os.write(status_write, _READY)
    run = os.fork()
    if run == 0:
        os.close(status_write)
        start()
    while True:
        pid, status = os.wait()
        if pid == run:
            os.write(status_write, str(status).encode())
            _exit(0)


def _supervise_namespace(
    confinement: Confinement, limits: Limits, view: FileView, start: Callable[[], None]
) -> tuple[int, str | None]:
    status_read, status_write = os.pipe()
    init = os.fork()
    if init == 0:
        os.close(status_read)
        try:
            die_with_parent()
            _run_init(confinement, status_write, start)
        finally:
            _exit(70)
    os.close(status_write)
    stopped = None
    if os.read(status_read, len(_READY)) == _READY:  # from now on /proc shows only the run's processes
        monitor = _LimitMonitor(limits, view, confinement.isolated)
        while os.waitpid(init, os.WNOHANG)[0] == 0:
            _wait_for_child()
            stopped = monitor.violation()
            if stopped:
                os.kill(init, signal.SIGKILL)
                os.waitpid(init, 0)
                break
    else:
        os.waitpid(init, 0)
    answer = os.read(status_read, 32)
    return (int(answer) if answer else signal.SIGKILL), stopped


def _supervise_orphans(
    confinement: Confinement, limits: Limits, view: FileView, start: Callable[[], None]
) -> tuple[int, str | None]:
    adopt_orphans()
    run = os.fork()
    if run == 0:
        start()
    monitor = _LimitMonitor(limits, view, confinement.isolated)
    status = stopped = None
    while status is None and stopped is None:
        _wait_for_child()
        status = _reap(run)
        stopped = None if status is not None else monitor.violation()
    with suppress(OSError):
        os.killpg(run, signal.SIGKILL)  # without /proc, only its process group is known
    _end_orphans()
    return (signal.SIGKILL if status is None else status), stopped


def supervise(
    confinement: Confinement, limits: Limits, request: dict[str, Any], reserved_mb: int, body: Callable[[], None]
) -> tuple[int, str | None]:
    """Confine this process, run ``body`` in a child, and wait until all its processes have ended.

    Args:
        confinement: the restrictions that the kernel supports.
        limits: the run's limits.
        request: has ``files``, the fields of the :class:`FileView`, and ``env``, the environment.
        reserved_mb: memory that a driver reserves without using it.
        body: called in the child, in a new process group; must not return.

    Returns:
        The child's wait status, and the reason for ending it; None if it ended by itself.

    Raises:
        OSError: the kernel refused the confinement.

    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    view = FileView(**request["files"])
    writable = confinement.enter(view, request["env"], limits.memory_mb)
    die_with_parent()

    def start() -> None:
        try:
            os.setsid()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            limits.impose(reserved_mb)
            confinement.limit_processes(2 * limits.processes)  # a fallback; the kernel also counts threads
            confinement.drop_privileges(writable)
            if "processes" not in confinement.isolated:
                die_with_parent()
            body()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.__stderr__, flush=True)
        finally:
            _exit(70)

    if "processes" in confinement.isolated:
        return _supervise_namespace(confinement, limits, view, start)
    return _supervise_orphans(confinement, limits, view, start)
