"""Git commands: never prompt, never run hooks, have a time limit, and show no credentials.

Credentials come from git's credential helpers only.  A URL is passed in the environment and never written to a file.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from devfix.vcs.redaction import redacted

__all__ = ["Git", "GitError", "end_all", "unquoted"]

_running: set[subprocess.Popen[bytes]] = set()

_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_CONTROL_ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_MIN_VERSION = (2, 31)  # GIT_CONFIG_COUNT
_MAX_LOG = 4000
_MAX_OUTPUT = 64 << 10  # bytes of error output, from its beginning and from its end
_GRACE_S = 5.0
_CHECK_S = 0.5
#: Inherited ``GIT_`` variables: those that configure network access.
_INHERITED = re.compile(r"GIT_(?:SSH|SSL|HTTP|PROXY|ASKPASS|CONFIG|ALLOW_PROTOCOL|EXEC_PATH)")
_SETTINGS = {
    "core.hooksPath": os.devnull,  # no hooks, from the user or from a template
    "core.fsmonitor": "false",
    "core.autocrlf": "false",  # read the committed bytes
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
    "advice.detachedHead": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "protocol.version": "2",
    "http.lowSpeedLimit": "100",  # bytes per second ...
    "http.lowSpeedTime": "120",  # ... for this many seconds: the connection hangs
}
#: Error output of git → advice; the first match counts.
_ADVICE = (
    (re.compile(r"couldn't find remote ref|no such ref|not our ref", re.I), "there is no such branch, tag or commit"),
    (
        re.compile(r"could not read (?:Username|Password)|terminal prompts disabled|Authentication failed", re.I),
        "no permission, or no such repository: no credential helper of git has a name and password for it",
    ),
    (
        re.compile(r"Permission denied|Host key verification failed|error: 403", re.I),
        "no permission: the server or the file system refused access",
    ),
    (re.compile(r"dubious ownership", re.I), "another user owns the folder: add it with git config safe.directory"),
    (
        re.compile(r"proxy|CONNECT tunnel", re.I),
        "the proxy refused or is unreachable: check http.proxy and the variables https_proxy and no_proxy",
    ),
    (
        re.compile(r"does not appear to be a git repository|not found|does not exist|not a git repository", re.I),
        "there is no such repository, or no permission to see it",
    ),
    (
        re.compile(r"Could not resolve host|Failed to connect|Connection (?:refused|timed out)", re.I),
        "no connection: if a proxy is needed, set git's http.proxy or the variable https_proxy",
    ),
)


#: Lines that report the consequence of an error in another process; its own line is the reason.
_CONSEQUENCE = re.compile(
    r"died (?:with|of)|died$|early EOF|unexpected disconnect|hung up unexpectedly|index-pack (?:failed|abnormal)"
    r"|fetch-pack: |unpack-objects failed|aborting due to possible repository corruption|could not read from remote"
    r"|protocol error: bad pack header|failed to push some refs|could not fetch [0-9a-f]+ from promisor",
    re.I,
)
_PREFIX = re.compile(r"(?:remote: )?(?:(?:fatal|error|ERROR): )*")


class GitError(Exception):
    """A git command failed: the message says why, ``log`` is the end of its error output."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log

    def __reduce__(self) -> tuple[type[GitError], tuple[str, str]]:
        return type(self), (str(self), self.log)


class Git:
    """Git in one repository.

    Args:
        folder: the working directory of commands.
        url: the URL of the remote ``origin``; empty for none.
        timeout: seconds for each command.
        lock: a file descriptor that commands inherit: a lock on it is held until the last of them ends.
        user_checkout: whether this is the user's checkout, where line endings are converted as configured.
        check: called while commands run, and after each; it raises ``GitError`` to end them.

    """

    def __init__(
        self,
        folder: str,
        url: str = "",
        timeout: float = 600.0,
        lock: int | None = None,
        *,
        user_checkout: bool = False,
        check: Callable[[], None] | None = None,
    ) -> None:
        self.folder = folder
        self.timeout = timeout
        self._url = url
        self.lock = lock
        self._user_checkout = user_checkout
        self._check = check

    def __call__(self, *arguments: str, extra_env: Mapping[str, str] | None = None, stdin: str | None = None) -> str:
        """Run a command and return its standard output.

        Args:
            arguments: the arguments of ``git``.
            extra_env: additional environment variables.
            stdin: the standard input.

        Raises:
            GitError: the command failed or exceeded the time limit.

        """
        git = _command()
        process = subprocess.Popen(
            [git, *arguments],
            cwd=self.folder,
            env={**environment(self._url, self._user_checkout), **(extra_env or {})},
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # ssh cannot prompt, and the process group can be killed
            pass_fds=() if self.lock is None else (self.lock,),
        )
        _running.add(process)
        errors = _ErrorOutput(process)
        data = None if stdin is None else os.fsencode(stdin)
        try:
            output = self._wait(process, data, _subcommand(arguments))
        finally:
            _running.discard(process)
            _end(process)
        if process.returncode:
            raise self._failure(_subcommand(arguments), process.returncode, errors.end())
        return os.fsdecode(output)

    def _wait(self, process: subprocess.Popen[bytes], data: bytes | None, subcommand: str) -> bytes:
        """Return the output of a command when it has ended."""
        end = time.monotonic() + self.timeout
        while True:
            left = max(0.0, end - time.monotonic())
            try:
                output, _ = process.communicate(data, timeout=left if self._check is None else min(left, _CHECK_S))
            except subprocess.TimeoutExpired:
                if left <= _CHECK_S or self._check is None:
                    raise GitError(f"git {subcommand} did not end within {self.timeout:g} s") from None
                data = None  # it was sent, or is being sent
            else:
                return output
            finally:
                if self._check is not None:
                    self._check()

    def _failure(self, subcommand: str, code: int, errors: bytes) -> GitError:
        log = redacted(errors.decode("utf-8", "replace").replace(self._url or "\0", redacted(self._url)))
        reported = _reason(log) or f"exit code {code}"
        advice = next((f" ({hint})" for pattern, hint in _ADVICE if pattern.search(log)), "")
        return GitError(f"git {subcommand}: {reported}{advice}", log[-_MAX_LOG:])


class _ErrorOutput(threading.Thread):
    """The beginning and the end of a command's error output: a server may send text without an end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        assert process.stderr is not None
        self._source, process.stderr = process.stderr, None  # this thread reads it
        self._head = self._tail = b""
        self.start()

    def run(self) -> None:
        with self._source as source:
            while part := os.read(source.fileno(), 1 << 16):
                missing = _MAX_OUTPUT - len(self._head)
                self._head += part[:missing]
                self._tail = (self._tail + part[missing:])[-_MAX_OUTPUT:]

    def end(self) -> bytes:
        """Return it after the command has ended; a process that it left behind may still hold the pipe."""
        self.join(_GRACE_S)
        return self._head + self._tail


def _reason(log: str) -> str:
    """Return the line of git's error output that names the cause, without prefixes."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(?:remote: )?(?:fatal|error|ERROR):", line)]
    causes = [line for line in errors if not _CONSEQUENCE.search(line)]
    remarks = [line for line in lines if line.startswith("remote: ") and not _CONSEQUENCE.search(line)]
    causes.sort(key=lambda line: "fatal:" not in line)  # errors before it led to it
    (found, *_) = [*causes, *reversed(remarks), *errors, *lines[-1:], ""]
    return _PREFIX.sub("", found, count=1)


def _subcommand(arguments: Sequence[str]) -> str:
    """Return the subcommand after ``-c`` options."""
    index = 0
    while arguments[index] == "-c":
        index += 2
    return arguments[index]


@lru_cache(maxsize=1)
def _command() -> str:
    """Return the path of git; raise ``GitError`` if it is missing or too old for ``GIT_CONFIG_COUNT``."""
    git = shutil.which("git")
    if git is None:
        raise GitError("git is not on the path: install it")
    reported = subprocess.run([git, "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", reported)
    if found is None or (int(found[1]), int(found[2])) < _MIN_VERSION:
        needed = ".".join(map(str, _MIN_VERSION))
        raise GitError(f"{git} is {reported.strip() or 'not git'}: devfix needs git {needed}")
    return git


def environment(url: str, user_checkout: bool = False) -> dict[str, str]:
    """Return the environment variables of a git command."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _INHERITED.match(name)
    }
    settings = dict(_SETTINGS)
    if user_checkout:
        del settings["core.autocrlf"]
        settings["safe.bareRepository"] = "explicit"  # a folder of a checkout may look like a bare repository
    if url:
        settings["remote.origin.url"] = url
    first = int(variables.get("GIT_CONFIG_COUNT") or 0)
    for number, (key, value) in enumerate(settings.items(), first):
        variables[f"GIT_CONFIG_KEY_{number}"], variables[f"GIT_CONFIG_VALUE_{number}"] = key, value
    variables.update(
        GIT_CONFIG_COUNT=str(first + len(settings)),
        GIT_OPTIONAL_LOCKS="0",
        GIT_TERMINAL_PROMPT="0",
        GIT_LFS_SKIP_SMUDGE="1",
        GCM_INTERACTIVE="never",
        SSH_ASKPASS_REQUIRE="never",
        LC_ALL="C",
    )
    return variables


def unquoted(name: str) -> str:
    """Return a path from git's output without the quoting of unusual names."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    return os.fsdecode(_ESCAPE.sub(_unescaped, os.fsencode(name[1:-1])))


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _CONTROL_ESCAPES.get(code, code)


def end_all() -> None:
    """Kill the running commands, before this process exits."""
    for process in tuple(_running):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a command that still runs, and close its pipes: a check may stop the wait after the command has ended."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(OSError):
            process.kill()
        process.communicate()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and not pipe.closed:
            with suppress(OSError):
                pipe.close()
