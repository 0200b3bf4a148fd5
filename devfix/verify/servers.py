"""Fork servers: one per interpreter, started on first use and closed at exit."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from devfix.verify.interpreters import OLDEST_TORCH, explain_unusable, is_too_old
from devfix.verify.outputs import Captured
from devfix.verify.probe.confinement.file_view import FileView
from devfix.verify.probe.supervisor import Limits

__all__ = ["ProcessResult", "ServerDied", "execute", "interpreter_info"]

HERE = Path(__file__).resolve().parent
SIMULATOR = HERE.parent / "simulator"
PROBE = HERE / "probe"

#: Bytes of a run's output that are kept from its beginning and from its end.
_HEAD_LIMIT = 8 << 20
_TAIL_LIMIT = 64 << 10

_PIPE_SIZE = 1 << 20
_STARTUP_SECONDS = 180.0
_GRACE_SECONDS = 15.0


class ServerDied(Exception):
    """The interpreter cannot run the probe: it has no torch, or it was killed.  The message includes its output."""


class ProcessResult(NamedTuple):
    """The end of a run: its wait status, the reason for stopping it (``time`` or a sentence), and its output.

    ``exposed`` lists the resources that the kernel could not isolate: ``network``, ``files`` and ``processes``.
    """

    status: int
    stopped: str | None
    printed: Captured
    exposed: tuple[str, ...]

    @property
    def timed_out(self) -> bool:
        return self.stopped == "time"


class _OutputReader(threading.Thread):
    """Thread that reads a FIFO to its end; of a very long output it stores the beginning and the end."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._incoming = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(self._incoming, True)
        with suppress(AttributeError, OSError):  # Linux, from Python 3.10 on
            fcntl.fcntl(self._incoming, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        # Our own writer keeps the FIFO open until the run ends, however often the run opens and closes it.
        self._writer = os.open(path, os.O_WRONLY)
        self._head = bytearray()
        self._tail = b""
        self._omitted = 0
        self._digest = hashlib.blake2b(digest_size=16)
        self.start()

    def run(self) -> None:
        with os.fdopen(self._incoming, "rb", 0) as source:
            while part := source.read(_PIPE_SIZE):
                kept = part[: _HEAD_LIMIT - len(self._head)]
                self._head += kept
                self._append(part[len(kept) :])

    def _append(self, part: bytes) -> None:
        self._tail += part
        passed = self._tail[:-_TAIL_LIMIT]
        self._digest.update(passed)
        self._omitted += len(passed)
        self._tail = self._tail[-_TAIL_LIMIT:]

    def finish(self) -> Captured:
        """Close our writer and return the output."""
        os.close(self._writer)
        self.join(2.0)
        if not self._omitted:
            return Captured((bytes(self._head) + self._tail).decode("utf-8", "replace"))
        head, tail = (part.decode("utf-8", "replace") for part in (bytes(self._head), self._tail))
        return Captured(head, tail, self._omitted, self._digest.hexdigest())


class _Server:
    def __init__(self, python: str) -> None:
        self._waiting: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._next = 0
        self.dead = False
        self._errors = b""
        environment = {
            name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME") if name in os.environ
        }
        environment.update(
            PYTHONHASHSEED="0",
            OMP_NUM_THREADS="1",
            MKL_NUM_THREADS="1",
            CUDA_VISIBLE_DEVICES="",
            PYTHONDONTWRITEBYTECODE="1",
        )
        self.info: dict[str, Any] = {}
        try:
            self.process = subprocess.Popen(
                [python, "-s", str(PROBE), "--serve", "--simulator", str(SIMULATOR)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise ServerDied(f"{python} cannot be started: {error.strerror or error}") from error
        self._ready = threading.Event()
        threading.Thread(target=self._read_answers, daemon=True).start()
        self._stderr = threading.Thread(target=self._read_errors, daemon=True)
        self._stderr.start()
        if not self._ready.wait(_STARTUP_SECONDS) or self.dead:
            self.close()
            self._stderr.join(2.0)
            raise ServerDied(explain_unusable(python, self._errors.decode("utf-8", "replace")))
        if is_too_old(self.info["torch"], OLDEST_TORCH):
            self.close()
            raise ServerDied(explain_unusable(python, ""))

    def _read_answers(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:  # not a Python interpreter
                    break
                if message.get("ready"):
                    self.info = message
                    self._ready.set()
                else:
                    with self._lock:
                        target = self._waiting.get(message["id"])
                    if target is not None:
                        target.put(message)
        self.dead = True
        self._ready.set()
        with self._lock:
            for target in self._waiting.values():
                target.put({"dead": True})

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self._errors = (self._errors + line)[-8000:]

    def request(self, message: dict[str, Any]) -> tuple[int, queue.Queue[dict[str, Any]]]:
        """Start a run and return its number and the queue of its answers."""
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        with self._lock:
            self._next += 1
            number = self._next
            self._waiting[number] = answers
            assert self.process.stdin is not None
            if self.dead:
                raise ServerDied("the fork server was killed")
            try:
                self.process.stdin.write((json.dumps({**message, "id": number}) + "\n").encode())
                self.process.stdin.flush()
            except OSError as error:
                raise ServerDied(str(error)) from error
        return number, answers

    def forget(self, number: int) -> None:
        with self._lock:
            self._waiting.pop(number, None)

    def close(self) -> None:
        try:
            if self.process.stdin is not None:
                self.process.stdin.close()
            self.process.wait(2.0)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()


_servers: dict[str, _Server] = {}
_servers_lock = threading.Lock()


def _server(python: str) -> _Server:
    python = os.path.abspath(python) if os.sep in python else python  # the server starts in another folder
    with _servers_lock:
        found = _servers.get(python)
        if found is None or found.dead:
            found = _servers[python] = _Server(python)
        return found


def interpreter_info(python: str) -> dict[str, Any]:
    """Return facts about an interpreter.

    Keys: ``torch``, its version; ``cuda``, the CUDA version of its build, or None; ``exposed``, as in
    :class:`ProcessResult`.

    Raises:
        ServerDied: the interpreter cannot run the probe.

    """
    return _server(python).info


@atexit.register
def _close_all() -> None:
    for server in _servers.values():
        server.close()
    _servers.clear()


def _kill_group(pid: int) -> None:
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def execute(
    python: str,
    argv: list[str],
    cwd: Path,
    env: dict[str, str],
    files: FileView,
    report: Path,
    limits: Limits,
) -> ProcessResult:
    """Run the probe once, confined as far as the kernel allows, and end all of its processes.

    Args:
        python: the interpreter; it needs torch.
        argv: the probe's arguments.
        cwd: the run's working directory.
        env: its complete environment.
        files: the files that it sees.
        report: existing file with a nonce, for the probe's report.
        limits: its limits on time, memory, disk and processes.

    Raises:
        ServerDied: the interpreter cannot run the probe.

    """
    server = _server(python)
    fifo = Path(files.folder, f"{report.name}.output")
    os.mkfifo(fifo)
    reader = _OutputReader(fifo)
    message = {
        "argv": argv,
        "cwd": str(cwd),
        "env": env,
        "output": str(fifo),
        "report": str(report),
        "files": files._replace(readable=(*files.readable, str(PROBE), str(SIMULATOR)))._asdict(),
        "limits": limits._asdict(),
    }
    number, pid = None, None
    answer: dict[str, Any] = {"status": signal.SIGKILL, "stopped": "time"}
    # The supervisor enforces the limit; this deadline applies only if the supervisor fails.
    deadline = time.monotonic() + limits.seconds + _GRACE_SECONDS
    try:
        number, answers = server.request(message)
        while "status" not in (received := answers.get(timeout=max(0.01, deadline - time.monotonic()))):
            if received.get("dead"):
                raise ServerDied("the fork server was killed")
            pid = received["pid"]
        answer = received
    except queue.Empty:
        pass
    finally:
        if number is not None:
            server.forget(number)
        if pid is not None and "id" not in answer:
            _kill_group(pid)
        printed = reader.finish()
    return ProcessResult(answer["status"], answer["stopped"], printed, tuple(server.info["exposed"]))
