"""Runs fork from one process that has torch loaded: a run then starts in milliseconds instead of seconds.

Requests are JSON lines on stdin, answers JSON lines on stdout.  A request holds the probe's ``argv``, ``cwd``, ``env``,
the paths that take the ``output`` (a FIFO or a file) and the ``report`` (a file), the ``folder`` that the run may write
to, the files and folders that are ``hidden`` from it, and its ``limits`` (the fields of ``keeper.Limits``).  Answers:
``{"id", "pid"}`` when the run has started; when it has ended ``{"id", "status", "stopped"}``: as of ``os.waitpid``, and
why it was ended or null.

Needs torch and the standard library only.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from typing import Any

from . import devices, program
from .confinement import Confinement, available
from .supervisor import Limits, adopt_orphans, children, keep

__all__ = ["serve"]

_DRIVER_MB = 64 << 10  # what a CUDA driver maps for itself
_REPORT_HANDLE = 200  # out of the way of what the script opens and closes

_exit = os._exit  # the run gets another


def _start_again(argv: list[str]) -> None:
    """Become a fresh interpreter: the driver of a real device does not survive a fork, and ours saw no device."""
    here = os.path.dirname(os.path.abspath(__file__))
    os.execve(sys.executable, [sys.executable, "-s", here, *argv], dict(os.environ))


def _flush() -> None:
    """Write what the script has printed; it may have closed the streams, or put anything in their place."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


class _Report:
    """The file that takes the report, opened before the script can delete it or its folder."""

    def __init__(self, path: str) -> None:
        self._path = path
        opened = os.open(path, os.O_WRONLY)
        self._handle = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _REPORT_HANDLE)
        os.close(opened)
        self._file = os.fstat(self._handle)

    def write(self, report: bytes) -> None:
        """Write the report, by its path where the script has closed what it did not open."""
        try:
            ours = os.path.samestat(os.fstat(self._handle), self._file)
        except OSError:
            ours = False
        with open(self._handle if ours else self._path, "wb") as target:
            target.write(report)


def _run(request: dict[str, Any], options: Any) -> None:
    """Become the run; never returns."""
    status = 70
    try:
        report = _Report(request["report"])
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        if options.device in devices.REAL:
            _start_again(request["argv"])
        sys.path[:] = [*request.get("path", []), *sys.path]
        told = json.dumps(program.probe(options)).encode()
        _flush()
        report.write(told)
        status = 0
    except BaseException:
        import traceback

        with suppress(Exception):
            traceback.print_exc()
    finally:
        _flush()
        _exit(status)


def _keep(confinement: Confinement, request: dict[str, Any], tell: int) -> None:
    """Become the keeper of a run; never returns."""
    answer: dict[str, Any] = {"status": 70 << 8, "stopped": None}
    try:
        os.setsid()
        output = os.open(request["output"], os.O_WRONLY)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, tell)
        os.closerange(tell + 1, 256)
        options = program.parser().parse_args(request["argv"])
        limits = Limits(**request["limits"])

        def body() -> None:
            os.close(tell)
            _run(request, options)

        try:
            reserved_mb = _DRIVER_MB if options.device in devices.REAL else 0
            status, stopped = keep(confinement, limits, request, reserved_mb, body)
            answer = {"status": status, "stopped": stopped}
        except OSError as error:
            answer["stopped"] = f"it could not be confined: {error}"
    finally:
        with suppress(OSError):
            os.write(tell, json.dumps(answer).encode())
        _exit(0)


def _available() -> Confinement:
    """What the kernel lets us confine runs in."""
    folder = tempfile.mkdtemp(prefix="devfix-trial-")
    try:
        return available(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    gc.collect()
    gc.freeze()  # what is here for ever is not looked through again in each run


class _Runs:
    """The runs that have not ended, by their keepers."""

    def __init__(self) -> None:
        self._confinement = _available()
        self._running: dict[int, tuple[int, int]] = {}
        self.exposed: list[str] = self._confinement.exposed

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        """Fork a keeper; returns the answer to give."""
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _keep(self._confinement, request, tell)
        os.close(tell)
        self._running[pid] = (request["id"], told)
        return {"id": request["id"], "pid": pid}

    def ended(self) -> list[dict[str, Any]]:
        """Answers for the runs that have ended since."""
        answers = []
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self._running:
                    number, told = self._running.pop(pid)
                    with os.fdopen(told, "rb") as source:
                        said = source.read()
                    answers.append(
                        {"id": number, **(json.loads(said) if said else {"status": status, "stopped": None})}
                    )
        self._end_strangers()
        return answers

    def _end_strangers(self) -> None:
        """Orphans of runs whose keeper was killed come to us."""
        for pid in children("self"):
            if pid not in self._running:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """End all of them."""
        for pid in self._running:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        self.ended()


def serve(options: Any) -> None:
    """Answer requests until stdin closes; then end every run that is still there."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    _warm_up(options)
    runs = _Runs()
    adopt_orphans()
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch = sys.modules["torch"]
    answer({"ready": True, "torch": torch.__version__, "cuda": torch.version.cuda, "exposed": runs.exposed})
    pending = b""
    while True:
        ready, _, _ = select.select([0, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 4096)
            for message in runs.ended():
                answer(message)
        if 0 in ready:
            received = os.read(0, 65536)
            if not received:
                break
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                answer(runs.start(json.loads(line)))
    runs.end()
