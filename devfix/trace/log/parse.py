"""Parse the device errors of a traceback or log, with their frames.

Supported formats: tracebacks of CPython, IPython, notebook cells, rich and pytest; with colours, progress bars and
prefixes (time stamps, levels, ``[rank0]:``, ``(Worker pid=7)``, container names); chained, truncated, and interleaved
ones of several processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from devfix.verify.probe.messages import device_family

__all__ = ["LoggedError", "LoggedFrame", "device_error", "read_log"]


@dataclass(frozen=True)
class LoggedFrame:
    """A printed frame: ``file`` as printed, None for a notebook cell; ``line`` is 0 if unknown."""

    file: str | None
    line: int
    function: str
    code: str


@dataclass(frozen=True)
class LoggedError:
    """A printed exception.

    Attributes:
        type: its class; empty if only the message is printed.
        message: the first line of its text, or more lines if they are needed to classify it.
        family: the message's family of device errors; None for other errors.
        frames: its frames, the deepest first.
        process: the mark of its process's lines, such as ``rank0``; empty without a mark.

    """

    type: str
    message: str
    family: str | None
    frames: tuple[LoggedFrame, ...]
    process: str


# Terminal escape sequences.
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_STAMP = r"\[?\d{4}-\d\d-\d\d[T ,]+\d\d:\d\d:\d\d[^\s|\]]*\]?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?|\[\d\d/\d\d/\d\d[^\]]*\]"
_LEVEL = r"\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|stderr|stdout)\]?(?=[\s:|\]-]|$)"
_PROCESS = (
    r"\[(?:default\d*\]:\[)?(?P<rank>rank\s?\d+)\]|\((?P<worker>[^()]*\bpid=\d+[^()]*)\)|(?P<task>\d{1,4}):(?=\s)"
)
_CONTAINER = r"(?P<container>[\w.-]{1,40})\s+\|(?=\s)"
_PREFIX = re.compile(rf"\s*(?:{_STAMP}|{_LEVEL}|{_PROCESS}|{_CONTAINER})(?:\s*[:|-](?=\s|$))?\s?")
_BOXED = re.compile(r"\s*(?:[│|┃]\s)?(.*?)(?:\s+[│|┃])?\s*$", re.DOTALL)

_START = re.compile(r"Traceback \(most recent call last\)")
_PATH = r"(?:~|\.{1,2}[\\/]|[\\/]|[A-Za-z]:[\\/])[^\s:*?\"]*"
_FRAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?',
        r"File (?P<file>(?:[A-Za-z]:)?[^\s:]+\.\w+):(?P<line>\d+)(?:, in (?P<function>.+))?$",
        r"(?:Cell|Input) In ?\[\d*\](?:, line (?P<line>\d+))?(?:, in (?P<function>.+))?$",
        r"<ipython-input-[^>]*> in (?P<function>.+)$",
        rf"(?P<file>{_PATH}\.py):(?P<line>\d+) in (?P<function>\S+)$",
        rf"(?P<file>{_PATH}\.py) in (?P<function>.+)$",
        r"(?P<file>[\w./\\-]+\.py):(?P<line>\d+): ?(?P<function>\w*)$",
    )
)
_ARROW = re.compile(r"(?:-+>|❱)\s*(?P<line>\d+)\s?[│|]?(?P<code>.*)$")
_QUOTED = re.compile(r">\s{2,}(?P<code>\S.*)$")  # pytest
_ERROR = re.compile(r"(?:E\s+)?(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Failure))\s*:\s*(?P<message>\S.*)$")
_UNDERLINE = re.compile(r"[\s~^]+$")
_WRAPPED_LINES = 2


def device_error(text: str) -> LoggedError | None:
    """Return the first device error of a log, preferably one with frames; None if there is none."""
    found = [error for error in read_log(text) if error.family is not None]
    return next((error for error in found if error.frames), found[0] if found else None)


def read_log(text: str) -> list[LoggedError]:
    """Return all errors of a log, in order.

    If no device error is printed with its type, lines that match a device error's message are returned as errors.
    """
    lines = _cleaned(text)
    processes: dict[str, _Process] = {}
    found: list[LoggedError] = []
    for number, (process, line) in enumerate(lines):
        found += processes.setdefault(process, _Process(process)).read(line, _following(lines, number, process))
    found += [state.pending for state in processes.values() if state.pending is not None]
    if any(error.family for error in found):
        return found
    bare = [(process, line, device_family(line)) for process, line in lines]
    left = {process: tuple(reversed(state.frames)) for process, state in processes.items()}
    return [
        *found,
        *(LoggedError("", line, family, left[process], process) for process, line, family in bare if family),
    ]


def _cleaned(text: str) -> list[tuple[str, str]]:
    """Return process and text of each line, without colours, prefixes, box borders and progress bars."""
    cleaned = []
    for raw in re.split(r"\r?\n", _ESCAPE.sub("", text)):
        for part in raw.split("\r"):  # a progress bar overwrites its line
            process, rest = _unprefixed(part.expandtabs(4))
            cleaned.append((process, rest))
    return cleaned


def _unprefixed(line: str) -> tuple[str, str]:
    process = ""
    while found := _PREFIX.match(line):
        marks = [mark for mark in found.groupdict().values() if mark]
        process = process or (marks[0].replace(" ", "") if marks else "")
        line = line[found.end() :]
    boxed = _BOXED.match(line)
    return process, boxed[1] if boxed else line.strip()


def _following(lines: list[tuple[str, str]], number: int, process: str) -> list[str]:
    after = lines[number + 1 : number + 1 + 4 * _WRAPPED_LINES]
    return [line for other, line in after if other == process][:_WRAPPED_LINES]


@dataclass
class _Process:
    """Parser of the lines of one process."""

    mark: str
    frames: list[LoggedFrame] = field(default_factory=list)
    expects_code: bool = False
    quoted: str = ""
    pending: LoggedError | None = None  # pytest prints the position after the error

    def read(self, line: str, following: Iterable[str]) -> list[LoggedError]:
        """Return the errors that end with this line: at most one."""
        if start := _START.search(line):
            self.frames, self.expects_code = [], False
            line = line[start.end() :].lstrip(": ")
        frame = _frame(line)
        if frame is not None:
            return self._add(frame)
        arrow = _ARROW.match(line)
        if arrow and self.frames:
            self.frames[-1] = replace(self.frames[-1], line=int(arrow["line"]), code=arrow["code"].strip())
            self.expects_code = False
            return []
        if quoted := _QUOTED.match(line):
            self.quoted = quoted["code"].strip()
            return []
        if error := _ERROR.match(line):
            return self._end(error, following)
        if self.expects_code and line and not _UNDERLINE.match(line):
            self.frames[-1] = replace(self.frames[-1], code=line.strip())
            self.expects_code = False
        return []

    def _add(self, frame: LoggedFrame) -> list[LoggedError]:
        frame = replace(frame, code=self.quoted)
        self.expects_code, self.quoted = not self.quoted, ""
        if self.pending is not None and frame.function == self.pending.type:
            ended, self.pending = replace(self.pending, frames=(frame, *self.pending.frames)), None
            return [ended]
        self.frames.append(frame)
        return []

    def _end(self, error: re.Match[str], following: Iterable[str]) -> list[LoggedError]:
        message, family = error["message"].strip(), device_family(error["message"])
        for line in following:  # a terminal may have wrapped the message
            if family is None:
                longer = f"{message} {line.strip()}"
                message, family = longer, device_family(longer)
        frames, self.frames, self.expects_code = tuple(reversed(self.frames)), [], False
        text = message if family else error["message"].strip()
        ended = LoggedError(error["type"].rpartition(".")[2], text, family, frames, self.mark)
        if not error[0].startswith("E "):
            return [ended]
        self.pending = ended
        return []


def _frame(line: str) -> LoggedFrame | None:
    for pattern in _FRAMES:
        found = pattern.search(line) if pattern is _FRAMES[0] else pattern.match(line)
        if found:
            parts = {"file": None, "line": None, "function": None, **found.groupdict()}
            return LoggedFrame(parts["file"], int(parts["line"] or 0), (parts["function"] or "").strip(), "")
    return None
