"""Fork server: runs fork from a process with torch loaded, and start in milliseconds instead of seconds.

Requests are JSON lines on stdin, answers JSON lines on stdout.  A request has the probe's ``argv``, ``cwd`` and
``env``, the paths of its ``output`` (a FIFO or a file) and ``report`` (a file with a nonce), the ``files`` that it sees
(the fields of ``file_view.FileView``), and its ``limits`` (the fields of ``supervisor.Limits``).  The answers are
``{"id", "pid"}`` at the run's start and ``{"id", "status", "stopped"}`` at its end: the wait status, and the reason for
ending the run or null.

Imports torch and the standard library only.
"""

from __future__ import annotations

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
from .report_file import ReportFile
from .supervisor import Limits, adopt_orphans, children, supervise

__all__ = ["serve"]

_DRIVER_MB = 64 << 10  # address space that a CUDA driver maps

_exit = os._exit  # before the run replaces it


def _reexecute(argv: list[str], report: ReportFile) -> None:
    """Re-execute the interpreter, because the driver of a real device does not support forks."""
    here = os.path.dirname(os.path.abspath(__file__))
    descriptor = str(report.pass_to_new_program())
    os.execve(sys.executable, [sys.executable, "-s", here, "--report", descriptor, *argv], dict(os.environ))


def _flush() -> None:
    """Flush the script's output; it may have closed or replaced the streams."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def _run(request: dict[str, Any], options: Any, report: ReportFile) -> None:
    """Become the run; never return."""
    status = 70
    try:
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        if options.device in devices.REAL:
            _reexecute(request["argv"], report)
        report.take_nonce()
        sys.path[:] = [*request.get("path", []), *sys.path]
        result = program.probe(options)
        _flush()
        report.write(result)
        status = 0
    except BaseException:
        import traceback

        with suppress(Exception):
            traceback.print_exc()
    finally:
        _flush()
        _exit(status)


def _supervise(confinement: Confinement, request: dict[str, Any], result_write: int) -> None:
    """Become the supervisor of a run; never return."""
    answer: dict[str, Any] = {"status": 70 << 8, "stopped": None}
    try:
        os.setsid()
        output = os.open(request["output"], os.O_WRONLY)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, result_write)
        os.closerange(result_write + 1, 256)
        report = ReportFile.open(request["report"])
        options = program.parser().parse_args(request["argv"])
        limits = Limits(**request["limits"])

        def body() -> None:
            os.close(result_write)
            _run(request, options, report)

        try:
            reserved_mb = _DRIVER_MB if options.device in devices.REAL else 0
            status, stopped = supervise(confinement, limits, request, reserved_mb, body)
            answer = {"status": status, "stopped": stopped}
        except OSError as error:
            answer["stopped"] = f"it could not be confined: {error}"
    finally:
        with suppress(OSError):
            os.write(result_write, json.dumps(answer).encode())
        _exit(0)


def _available() -> Confinement:
    """Return the strongest confinement that the kernel supports."""
    folder = tempfile.mkdtemp(prefix="devfix-trial-")
    try:
        return available(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _preload(options: Any) -> None:
    """Import common modules.  No operator may run before a fork, because thread pools do not survive it."""
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
    gc.freeze()  # exclude permanent objects from each run's collections


class _Runs:
    """The active runs, by their supervisors."""

    def __init__(self) -> None:
        self._confinement = _available()
        self._running: dict[int, tuple[int, int]] = {}
        self.exposed: list[str] = self._confinement.exposed

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        """Fork a supervisor and return the answer."""
        result_read, result_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _supervise(self._confinement, request, result_write)
        os.close(result_write)
        self._running[pid] = (request["id"], result_read)
        return {"id": request["id"], "pid": pid}

    def ended(self) -> list[dict[str, Any]]:
        """Return the answers for runs that have ended since the last call."""
        answers = []
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self._running:
                    number, result_read = self._running.pop(pid)
                    with os.fdopen(result_read, "rb") as source:
                        result = source.read()
                    answers.append(
                        {"id": number, **(json.loads(result) if result else {"status": status, "stopped": None})}
                    )
        self._kill_orphans()
        return answers

    def _kill_orphans(self) -> None:
        """Kill orphans of runs whose supervisor was killed; they are children of this process."""
        for pid in children("self"):
            if pid not in self._running:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill all runs."""
        for pid in self._running:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        self.ended()


def serve(options: Any) -> None:
    """Answer requests until stdin closes, then kill all active runs."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    _preload(options)
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
