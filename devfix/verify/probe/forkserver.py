"""Runs fork from one process that has torch loaded: a run then starts in milliseconds instead of seconds.

Requests are JSON lines on stdin, answers JSON lines on stdout.  A request holds the probe's ``argv``, ``cwd``, ``env``,
the path that takes the ``output`` (a FIFO or a file) and ``memory_mb``.  Answers: ``{"id", "pid"}`` when the run has
started, ``{"id", "status"}`` (as of ``os.waitpid``) when it has ended.  Each run is a process group of its own.

Needs torch and the standard library only.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import Any

from . import devices, program

__all__ = ["confine", "serve"]

_DRIVER_MB = 64 << 10  # what a CUDA driver maps for itself
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


def _loopback_up() -> None:
    """A new network namespace has a loopback device that is down; ``torch.distributed`` needs it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(handle, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _leave_network() -> bool:
    """Cut the process off the network where the kernel lets us; says whether it did."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        user, group = os.getuid(), os.getgid()
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
            with open("/proc/self/setgroups", "w") as setting:
                setting.write("deny")
            with open("/proc/self/uid_map", "w") as setting:
                setting.write(f"{user} {user} 1")
            with open("/proc/self/gid_map", "w") as setting:
                setting.write(f"{group} {group} 1")
        elif libc.unshare(_CLONE_NEWNET) != 0:
            return False
        _loopback_up()
        return True
    except (OSError, AttributeError):
        return False


def confine(memory_mb: int) -> bool:
    """Limits for this process and its children; returns whether the network is cut off."""
    limit = memory_mb << 20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _leave_network()


def _start_again(argv: list[str], offline: bool) -> None:
    """Become a fresh interpreter: the driver of a real device does not survive a fork, and ours saw no device."""
    told = ["--offline"] if offline else []
    os.execve(
        sys.executable,
        [sys.executable, "-s", os.path.dirname(os.path.abspath(__file__)), *told, *argv],
        dict(os.environ),
    )


def _child(request: dict[str, Any]) -> None:
    """Become the run; never returns."""
    status = 70
    try:
        os.setsid()
        output = os.open(request["output"], os.O_WRONLY)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 256)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        options = program.parser().parse_args(request["argv"])
        real = options.device in devices.REAL
        offline = confine(request["memory_mb"] + (_DRIVER_MB if real else 0))
        if real:
            _start_again(request["argv"], offline)
        sys.path[:] = [*request.get("path", []), *sys.path]
        report = program.probe(options)
        report["offline"] = offline
        sys.stdout.flush()
        sys.stderr.flush()
        program.write(report, options.report)
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def _warm_up(options: Any) -> None:
    """Import what every run needs.  No operator may run before a fork: thread pools do not survive it."""
    import torch
    import torch._dynamo  # optimizers import it on first use
    import torch.utils.data

    with suppress(ImportError):
        importlib.import_module("numpy")
    if options.simulator:
        simulator = devices.load_simulator(options.simulator)
        simulator.preload()
    torch.set_num_threads(1)


def serve(options: Any) -> None:
    """Answer requests until stdin closes; then end every run that is still there."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    _warm_up(options)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch = sys.modules["torch"]
    answer({"ready": True, "torch": torch.__version__, "cuda": torch.version.cuda})
    running: dict[int, Any] = {}
    pending = b""
    while True:
        ready, _, _ = select.select([0, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 4096)
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid in running:
                answer({"id": running.pop(pid), "status": status})
        if 0 in ready:
            received = os.read(0, 65536)
            if not received:
                break
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                request = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    _child(request)
                running[pid] = request["id"]
                answer({"id": request["id"], "pid": pid})
    for pid in running:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
