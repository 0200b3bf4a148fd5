"""The git command: never asks, never runs hooks, ends in time, and shows no credentials.

Credentials come from git's own helpers alone.  A URL travels in the environment and is written nowhere.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from devfix.vcs.redaction import redacted

__all__ = ["Git", "GitError", "end_all", "unquoted"]

_running: set[subprocess.Popen[bytes]] = set()

_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_NAMED = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_OLDEST = (2, 31)  # GIT_CONFIG_COUNT
_LOG_KEPT = 4000
#: Of the variables that begin with GIT_, those that say how to reach a server.
_KEPT = re.compile(r"GIT_(?:SSH|SSL|HTTP|PROXY|ASKPASS|CONFIG|ALLOW_PROTOCOL|EXEC_PATH)")
_SETTINGS = {
    "core.hooksPath": os.devnull,  # neither the user's nor a template's
    "core.fsmonitor": "false",
    "core.autocrlf": "false",  # what is read is what is in the commit
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
    "advice.detachedHead": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "protocol.version": "2",
    "http.lowSpeedLimit": "100",  # bytes a second ...
    "http.lowSpeedTime": "120",  # ... for so many seconds: the connection hangs
}
#: What git says → what a person can do; the first that fits.
_ADVICE = (
    (re.compile(r"couldn't find remote ref|no such ref|not our ref", re.I), "there is no such branch, tag or commit"),
    (
        re.compile(r"could not read (?:Username|Password)|terminal prompts disabled|Authentication failed", re.I),
        "no permission, or no such repository: git has no credential helper that knows a name and password for it",
    ),
    (
        re.compile(r"Permission denied|Host key verification failed|error: 403", re.I),
        "no permission: the server or the file system refused",
    ),
    (re.compile(r"dubious ownership", re.I), "the folder belongs to somebody else: git config safe.directory names it"),
    (
        re.compile(r"proxy|CONNECT tunnel", re.I),
        "the proxy refused, or is not there: look at http.proxy and the variables https_proxy and no_proxy",
    ),
    (
        re.compile(r"does not appear to be a git repository|not found|does not exist|not a git repository", re.I),
        "there is no such repository, or no permission to see it",
    ),
    (
        re.compile(r"Could not resolve host|Failed to connect|Connection (?:refused|timed out)", re.I),
        "no connection; where a proxy is needed, http.proxy of git or the variable https_proxy names it",
    ),
)


class GitError(Exception):
    """A git command failed: the message says what happened, ``log`` is the end of what git said."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log

    def __reduce__(self) -> tuple[type[GitError], tuple[str, str]]:
        return type(self), (str(self), self.log)


class Git:
    """Git in one repository.

    Args:
        folder: where it runs.
        url: of the remote ``origin``; empty for none.
        timeout: seconds for each command.
        lock: a file descriptor that commands keep open: a lock on it ends with the last of them.
        own: a person's own checkout: newlines are converted as their configuration says.

    """

    def __init__(
        self, folder: str, url: str = "", timeout: float = 600.0, lock: int | None = None, *, own: bool = False
    ) -> None:
        self.folder = folder
        self.timeout = timeout
        self._url = url
        self.lock = lock
        self._own = own

    def __call__(self, *arguments: str, more: Mapping[str, str] | None = None, text: str | None = None) -> str:
        """What a command prints.

        Args:
            arguments: of the command.
            more: variables to add.
            text: for its standard input.

        Raises:
            GitError: it failed, or did not end in time.

        """
        git = _command()
        process = subprocess.Popen(
            [git, *arguments],
            cwd=self.folder,
            env={**environment(self._url, self._own), **(more or {})},
            stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # ssh finds no terminal to ask on; and all of it can be ended
            pass_fds=() if self.lock is None else (self.lock,),
        )
        _running.add(process)
        given = None if text is None else os.fsencode(text)
        try:
            output, errors = process.communicate(given, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise GitError(f"git {_verb(arguments)} did not end within {self.timeout:g} s") from None
        finally:
            _running.discard(process)
            if process.poll() is None:
                _end(process)
        if process.returncode:
            raise self._failure(_verb(arguments), process.returncode, errors)
        return os.fsdecode(output)

    def _failure(self, verb: str, code: int, errors: bytes) -> GitError:
        log = redacted(errors.decode("utf-8", "replace").replace(self._url or "\0", redacted(self._url)))
        lines = [line.strip() for line in log.splitlines() if line.strip()]
        told = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
        told = told.removeprefix("fatal: ").removeprefix("error: ") or f"it ended with {code}"
        advice = next((f" ({words})" for pattern, words in _ADVICE if pattern.search(log)), "")
        return GitError(f"git {verb}: {told}{advice}", log[-_LOG_KEPT:])


def _verb(arguments: Sequence[str]) -> str:
    """The command's name, behind the settings that come ahead of it."""
    at = 0
    while arguments[at] == "-c":
        at += 2
    return arguments[at]


@lru_cache(maxsize=1)
def _command() -> str:
    """The git command; raises ``GitError`` where there is none, or where it does not take settings as variables."""
    git = shutil.which("git")
    if git is None:
        raise GitError("there is no git command on the path: install git")
    told = subprocess.run([git, "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST:
        raise GitError(f"{git} is {told.strip() or 'not git'}: devfix needs {_OLDEST[0]}.{_OLDEST[1]}")
    return git


def environment(url: str, own: bool = False) -> dict[str, str]:
    """The variables of a git command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _KEPT.match(name)}
    settings = dict(_SETTINGS)
    if own:
        del settings["core.autocrlf"]
    if url:
        settings["remote.origin.url"] = url
    first = int(kept.get("GIT_CONFIG_COUNT") or 0)
    for number, (key, value) in enumerate(settings.items(), first):
        kept[f"GIT_CONFIG_KEY_{number}"], kept[f"GIT_CONFIG_VALUE_{number}"] = key, value
    kept.update(
        GIT_CONFIG_COUNT=str(first + len(settings)),
        GIT_OPTIONAL_LOCKS="0",
        GIT_TERMINAL_PROMPT="0",
        GIT_LFS_SKIP_SMUDGE="1",
        GCM_INTERACTIVE="never",
        SSH_ASKPASS_REQUIRE="never",
        LC_ALL="C",
    )
    return kept


def unquoted(name: str) -> str:
    """A path as git prints it, without the quotation marks that it puts around unusual ones."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    return os.fsdecode(_ESCAPE.sub(_unescaped, os.fsencode(name[1:-1])))


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _NAMED.get(code, code)


def end_all() -> None:
    """End the commands that run: this process is about to end."""
    for process in tuple(_running):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        process.kill()
    process.communicate()
