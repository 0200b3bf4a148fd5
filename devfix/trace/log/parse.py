"""Parse the device errors of a traceback or log, with their frames.

Supported formats: tracebacks of CPython, IPython, notebook cells, rich and pytest; with colours, progress bars and
prefixes (time stamps, levels, ``[rank0]:``, ``(Worker pid=7)``, container names); chained, truncated, and interleaved
ones of several processes; user code that ``torch.compile`` prints after its message; tracebacks in a JSON string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

from devfix.verify.probe.messages import device_family

__all__ = ["LoggedError", "LoggedFrame", "device_errors", "read_log"]


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
        is_chained: whether it was raised from the previous error of its process, or while that was handled.

    """

    type: str
    message: str
    family: str | None
    frames: tuple[LoggedFrame, ...]
    process: str
    is_chained: bool = False


# Terminal escape sequences, also with the escape character written out (JSON of notebooks) or lost (copied text).
_ESCAPE = re.compile(
    r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033)(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|\[(?:\d{1,3};)*\d{1,3}m"
)
_IN_JSON = re.compile(r"\(most recent call last\):\\n")  # a traceback in a JSON string
_JSON_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_JSON_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t"}
_STAMP = r"\[?\d{4}-\d\d-\d\d[T ,]+\d\d:\d\d:\d\d[^\s|\]]*\]?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?|\[\d\d/\d\d/\d\d[^\]]*\]"
_LEVEL = r"\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|stderr|stdout)\]?(?=[\s:|\]-]|$)"
_PROCESS = (
    r"\[(?:default\d*\]:\[)?(?P<rank>rank\s?\d+)\]|\[(?P<local>default\d+)\]|\[(?P<mpi>\d+,\d+)\]<std(?:out|err)>"
    r"|\((?P<worker>[^()]*\bpid=\d+[^()]*)\)|(?P<task>\d{1,4}):(?=\s)"
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
_CHAINED = re.compile(
    r"The above exception was the direct cause of|During handling of the above exception|Original Traceback"
)
_USER_CODE = re.compile(
    r"from user code:?$"
)  # torch.compile prints the frames of the compiled function after its message
_WRAPPED_LINES = 4
_LONGEST_LINE = 10_000
_USER_CODE_LINES = 200


def device_errors(text: str) -> list[LoggedError]:
    """Return the device errors of a log that can have ended it, those with frames first.

    Of each process, these are the errors of the last traceback with a device error: of the chain of exceptions that
    caused each other, in order.
    """
    chains: dict[str, list[list[LoggedError]]] = {}
    for error in read_log(text):
        of_process = chains.setdefault(error.process, [])
        if not of_process or not error.is_chained:
            of_process.append([])
        of_process[-1].append(error)
    found = [
        error
        for of_process in chains.values()
        for error in next(filter(None, ([e for e in chain if e.family] for chain in reversed(of_process))), [])
    ]
    return sorted(found, key=lambda error: not error.frames)


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
        if _IN_JSON.search(raw):
            raw = _JSON_ESCAPE.sub(_json_character, raw)
        for part in re.split(r"[\r\n]", raw):  # a progress bar overwrites its line
            process, rest = _unprefixed(part[:_LONGEST_LINE].expandtabs(4))
            cleaned.append((process, rest))
    return cleaned


def _json_character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _JSON_CHARACTERS.get(code, code)


def _unprefixed(line: str) -> tuple[str, str]:
    process = ""
    while found := _PREFIX.match(line):
        marks = [mark for mark in found.groupdict().values() if mark]
        process = process or (marks[0].replace(" ", "") if marks else "")
        line = line[found.end() :]
    boxed = _BOXED.match(line)
    return process, boxed[1] if boxed else line.strip()


def _following(lines: list[tuple[str, str]], number: int, process: str) -> Iterator[str]:
    """Yield the lines of a process after a line."""
    return (lines[after][1] for after in range(number + 1, len(lines)) if lines[after][0] == process)


@dataclass
class _Process:
    """Parser of the lines of one process."""

    mark: str
    frames: list[LoggedFrame] = field(default_factory=list)
    expects_code: bool = False
    quoted: str = ""
    is_chained: bool = False
    pending: LoggedError | None = None  # pytest prints the position after the error

    def read(self, line: str, following: Iterable[str]) -> list[LoggedError]:
        """Return the errors that end with this line: at most one."""
        self.is_chained = self.is_chained or _CHAINED.search(line) is not None
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
        if self.expects_code and self.frames and line and not _UNDERLINE.match(line):
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
        message, after = error["message"].strip(), list(islice(following, _USER_CODE_LINES))
        family = device_family(message)
        for line in takewhile(_continues, after[:_WRAPPED_LINES]):  # a terminal may have wrapped the message
            if family is None:
                message = f"{message} {line.strip()}"
                family = device_family(message)
        frames = (*_user_frames(after), *reversed(self.frames))
        text = message if family else error["message"].strip()
        ended = LoggedError(error["type"].rpartition(".")[2], text, family, frames, self.mark, self.is_chained)
        self.frames, self.expects_code, self.is_chained = [], False, False
        if not error[0].startswith("E "):
            return [ended]
        self.pending = ended
        return []


def _continues(line: str) -> bool:
    """Return whether a line can continue the message of an error."""
    return (
        bool(line) and not any(pattern.match(line) for pattern in (_ERROR, _START, _CHAINED)) and _frame(line) is None
    )


def _user_frames(after: Sequence[str]) -> list[LoggedFrame]:
    """Return the frames of user code that follow the message of ``torch.compile``, the deepest first."""
    for number, line in enumerate(after):
        if _ERROR.match(line) or _START.search(line):
            return []
        if _USER_CODE.match(line):
            reader = _Process("")
            for each in takewhile(lambda text: not _ERROR.match(text) and not _START.search(text), after[number + 1 :]):
                reader.read(each, ())
            return reader.frames[::-1]
    return []


def _frame(line: str) -> LoggedFrame | None:
    for pattern in _FRAMES:
        found = pattern.search(line) if pattern is _FRAMES[0] else pattern.match(line)
        if found:
            parts = {"file": None, "line": None, "function": None, **found.groupdict()}
            return LoggedFrame(parts["file"], int(parts["line"] or 0), (parts["function"] or "").strip(), "")
    return None
