"""The process between the fork server and a run: it confines the run, watches what it takes, and ends all of it.

A run may fork, leave its process group, kill its parent and write without end. Its keeper stands outside: it holds the
end of the process namespace that the run lives in, or, where the kernel has none for us, it adopts every orphan of the
run, so that nothing outlives it.

Needs the standard library only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from .confinement import Confinement

__all__ = ["DEFAULT_DISK_MB", "DEFAULT_PROCESSES", "Limits", "adopt_orphans", "children", "keep"]

DEFAULT_DISK_MB = 16 << 10
DEFAULT_PROCESSES = 512

_TICK_SECONDS = 0.05
_SLOW_CHECK_SECONDS = 0.5
_READY = b"ready\n"

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36

_exit = os._exit  # the run gets another


class Limits(NamedTuple):
    """What a run may take: seconds, megabytes of memory and of disk (all its processes together), processes."""

    seconds: float
    memory_mb: int
    disk_mb: int = DEFAULT_DISK_MB
    processes: int = DEFAULT_PROCESSES

    def impose(self, reserved_mb: int) -> None:
        """Let the kernel hold each process to its part of them; a driver may reserve memory that it does not use."""
        memory, disk = (self.memory_mb + reserved_mb) << 20, self.disk_mb << 20
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process (Linux; elsewhere nothing happens)."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the parent dies."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children(pid: int | str) -> list[int]:
    """The children of a process, from ``/proc``; empty where there is none."""
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


def _proportional_mb(pid: int) -> float:
    """Memory of a process; what it shares with others counts in part, as after a fork."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup") as lines:
        for line in lines:
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return _resident_mb(pid)


def _disk_mb(folder: str) -> float:
    total = 0
    for current, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(current, name)).st_blocks * 512
    return total / (1 << 20)


def _free_mb(folder: str) -> float:
    with suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize / (1 << 20)
    return 0.0


class _Watch:
    """Looks at a run from outside and says when it takes too much."""

    def __init__(self, limits: Limits, folder: str, alone: bool) -> None:
        self._limits = limits
        self._folder = folder
        self._alone = alone  # /proc shows the run's processes and no others
        self._deadline = time.monotonic() + limits.seconds
        self._free = _free_mb(folder)
        self._next_slow = 0.0

    def _processes(self) -> list[int]:
        if self._alone:
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        return list(_descendants("self"))

    def complaint(self) -> str | None:
        """Why the run must end; None if it may go on.  ``time`` is the one that needs no words."""
        now, limits = time.monotonic(), self._limits
        if now > self._deadline:
            return "time"
        processes = self._processes()
        if len(processes) > limits.processes:
            return f"it started more than {limits.processes} processes"
        if now < self._next_slow:
            return None
        self._next_slow = now + _SLOW_CHECK_SECONDS
        if (
            sum(map(_resident_mb, processes)) > limits.memory_mb
            and sum(map(_proportional_mb, processes)) > limits.memory_mb
        ):
            return f"it took more than {limits.memory_mb} MB of memory"
        if self._free - _free_mb(self._folder) > limits.disk_mb / 2 and _disk_mb(self._folder) > limits.disk_mb:
            return f"it wrote more than {limits.disk_mb} MB"
        return None


def _wait_for_news() -> None:
    """Sleep for a tick, or until a child ends."""
    wait = getattr(signal, "sigtimedwait", None)
    if wait is None:  # macOS
        time.sleep(_TICK_SECONDS / 5)
    else:
        wait({signal.SIGCHLD}, _TICK_SECONDS)


def _end_orphans() -> None:
    """End every process that is left below this one; those that are left without parents come to us."""
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
    """Take notice of children that have ended; returns the wait status of the one asked for, if it has."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == until:
                return status
    return None


def _first_of_its_kind(confinement: Confinement, told: int, start: Callable[[], None]) -> None:
    """Be the first process of a process namespace: start the run, adopt its orphans, and take all along at the end."""
    confinement.begin()
    os.write(told, _READY)
    run = os.fork()
    if run == 0:
        os.close(told)
        start()
    while True:
        pid, status = os.wait()
        if pid == run:
            os.write(told, str(status).encode())
            _exit(0)


def _in_namespace(
    confinement: Confinement, limits: Limits, folder: str, start: Callable[[], None]
) -> tuple[int, str | None]:
    from_first, told = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(from_first)
        try:
            die_with_parent()
            _first_of_its_kind(confinement, told, start)
        finally:
            _exit(70)
    os.close(told)
    stopped = None
    if os.read(from_first, len(_READY)) == _READY:  # from now on /proc shows the run's processes and no others
        watch = _Watch(limits, folder, alone=True)
        while os.waitpid(first, os.WNOHANG)[0] == 0:
            _wait_for_news()
            stopped = watch.complaint()
            if stopped:
                os.kill(first, signal.SIGKILL)
                os.waitpid(first, 0)
                break
    else:
        os.waitpid(first, 0)
    answer = os.read(from_first, 32)
    return (int(answer) if answer else signal.SIGKILL), stopped


def _without_namespace(limits: Limits, folder: str, start: Callable[[], None]) -> tuple[int, str | None]:
    adopt_orphans()
    run = os.fork()
    if run == 0:
        start()
    watch = _Watch(limits, folder, alone=False)
    status = stopped = None
    while status is None and stopped is None:
        _wait_for_news()
        status = _reap(run)
        stopped = None if status is not None else watch.complaint()
    with suppress(OSError):
        os.killpg(run, signal.SIGKILL)  # where there is no /proc, its group is all we know of it
    _end_orphans()
    return (signal.SIGKILL if status is None else status), stopped


def keep(
    confinement: Confinement, limits: Limits, request: dict[str, Any], reserved_mb: int, body: Callable[[], None]
) -> tuple[int, str | None]:
    """Confine this process, run ``body`` in a child and wait for it, until nothing of it is left.

    Args:
        confinement: what the kernel can do.
        limits: what the run may take.
        request: holds ``folder``, which the run may write to, ``hidden``, what it may not see, and
            ``layered``, where it may write without effect.
        reserved_mb: memory that a driver reserves without using it.
        body: is called in the child, in a process group of its own; must not return.

    Returns:
        The child's wait status, and why it was ended; None if it ended by itself.

    Raises:
        OSError: the kernel refused to confine it.

    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    confinement.enter(request["folder"], request["hidden"], request["layered"])
    die_with_parent()

    def start() -> None:
        try:
            os.setsid()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            limits.impose(reserved_mb)
            confinement.limit_processes(2 * limits.processes)  # the kernel's is the second line, and counts threads
            confinement.give_up_privileges()
            if "processes" not in confinement.parts:
                die_with_parent()
            body()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.__stderr__, flush=True)
        finally:
            _exit(70)

    if "processes" in confinement.parts:
        return _in_namespace(confinement, limits, request["folder"], start)
    return _without_namespace(limits, request["folder"], start)
