"""Frames of the user's code: found on the stack in a microsecond or two, and read when a story is told.

A *chain* is the frames of the project that led to a point, the innermost first, each a code object and an instruction.
Frames of PyTorch, of the standard library and of the probe are left out; the innermost frame of an installed package
that is *inside* of the project's innermost frame is kept beside the chain, for the fault may lie there.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, NamedTuple

__all__ = ["FOREIGN", "PROJECT", "Chain", "Frames", "Point", "position"]

PLATFORM, PROJECT, FOREIGN, LOADER, _END = range(5)

#: Installed packages that are what the user stands on: no fault is looked for in them.
_FOUNDATION = ("torch", "numpy", "scipy", "functorch", "torchgen", "_pytest", "pytest", "IPython", "ipykernel")
_DEPTH = 6
_LOADER = os.path.join("torch", "utils", "data") + os.sep
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple(
    os.path.realpath(path) + os.sep for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if path
)


class Point(NamedTuple):
    """An instruction of a code object."""

    code: CodeType
    instruction: int


class Chain(NamedTuple):
    """Points of the project, the innermost first, and the innermost one of an installed package inside of them.

    ``loader`` says that a data loader stood between them or inside of them.
    """

    points: tuple[Point, ...]
    foreign: Point | None
    loader: bool = False


class Frames:
    """Tells the user's frames from others.

    Args:
        root: the project's folder.
        hidden: folders besides the probe whose frames are no one's: the simulator's.

    """

    def __init__(self, root: str, hidden: tuple[str, ...] = ()) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._hidden = (_OWN, *(os.path.realpath(each) + os.sep for each in hidden))
        self._kinds: dict[int, int] = {}
        self._kept: list[CodeType] = []  # so that no other code object gets the same id

    def chain(self, frame: FrameType | None) -> Chain:
        """The chain that ends in ``frame``."""
        kind_of = self._kinds.get
        points: list[Point] = []
        foreign, loader = None, False
        while frame is not None:
            code = frame.f_code
            kind = kind_of(id(code))
            if kind is None:
                kind = self._learn(code)
            if kind:  # most are the platform's
                if kind == PROJECT:
                    points.append(Point(code, frame.f_lasti))
                    if len(points) == _DEPTH:
                        break
                elif kind == LOADER:
                    loader = True
                elif kind == _END:
                    break
                elif foreign is None and not points:
                    foreign = Point(code, frame.f_lasti)
            frame = frame.f_back
        return Chain(tuple(points), foreign, loader)

    def kind(self, code: CodeType) -> int:
        """``PLATFORM``, ``PROJECT``, ``FOREIGN``, or ``LOADER`` for PyTorch's data loader."""
        found = self._kinds.get(id(code))
        return self._learn(code) if found is None else found

    def relative(self, file: str) -> str:
        """A file of the project by its path within it, others by their absolute path."""
        path = os.path.realpath(file)
        return path[len(self._root) :] if path.startswith(self._root) else path

    def _learn(self, code: CodeType) -> int:
        starts = code.co_name == "execute" and code.co_filename.startswith(_OWN)
        kind = self._kinds[id(code)] = _END if starts else self._classify(code.co_filename)
        self._kept.append(code)
        return kind

    def _classify(self, filename: str) -> int:
        if filename.startswith("<"):
            return PLATFORM
        path = os.path.realpath(filename)
        if path.startswith(self._hidden):
            return PLATFORM
        installed = _package(path)
        if installed is not None:
            if installed not in _FOUNDATION:
                return FOREIGN
            return LOADER if _LOADER in path else PLATFORM
        if path.startswith(self._root):
            return PROJECT
        return PLATFORM if path.startswith(_LIBRARIES) else FOREIGN


def _package(path: str) -> str | None:
    """The top folder or module of an installed file; None for others."""
    for mark in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        _, found, rest = path.rpartition(mark)
        if found:
            return rest.split(os.sep)[0].removesuffix(".py")
    return None


def position(point: Point, frames: Frames) -> dict[str, Any]:
    """A point as JSON: ``file``, ``line``, ``function``, ``code``, ``span`` and ``text``.

    ``span`` is line, column, end line and end column (lines from 1, columns in bytes from 0) of the expression that
    ran, and ``text`` its source; None before Python 3.11 (https://peps.python.org/pep-0657/).
    """
    line, span = _lines(point)
    return {
        "file": frames.relative(point.code.co_filename),
        "line": line,
        "span": span,
        "function": point.code.co_name,
        "code": linecache.getline(point.code.co_filename, line).strip(),
        "text": None if span is None else _text(point.code.co_filename, span),
    }


def _text(file: str, span: list[int]) -> str:
    line, column, end_line, end_column = span
    lines = [linecache.getline(file, number).encode() for number in range(line, end_line + 1)]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b"".join(lines).decode(errors="replace")


def _lines(point: Point) -> tuple[int, list[int] | None]:
    code, instruction = point
    if sys.version_info >= (3, 11):
        for number, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            if number == instruction // 2 and line is not None:
                if end_line is None or column is None or end_column is None:
                    return line, None
                return line, [line, column, end_line, end_column]
    last = code.co_firstlineno
    for start, _, line in code.co_lines():
        if start > instruction:
            break
        last = line if line is not None else last
    return last, None
