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

PLATFORM, PROJECT, FOREIGN = range(3)

#: Installed packages that are what the user stands on: no fault is looked for in them.
_FOUNDATION = ("torch", "numpy", "scipy", "functorch", "torchgen", "_pytest", "pytest", "IPython", "ipykernel")
_DEPTH = 6
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple(
    os.path.realpath(path) + os.sep for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if path
)


class Point(NamedTuple):
    """An instruction of a code object."""

    code: CodeType
    instruction: int


class Chain(NamedTuple):
    """Points of the project, the innermost first, and the innermost one of an installed package inside of them."""

    points: tuple[Point, ...]
    foreign: Point | None


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
        kinds = self._kinds
        points: list[Point] = []
        foreign = None
        while frame is not None:
            code = frame.f_code
            kind = kinds.get(id(code))
            if kind is None:
                kind = self._learn(code)
            if kind == PROJECT:
                points.append(Point(code, frame.f_lasti))
                if len(points) == _DEPTH:
                    break
            elif kind == FOREIGN and foreign is None and not points:
                foreign = Point(code, frame.f_lasti)
            frame = frame.f_back
        return Chain(tuple(points), foreign)

    def kind(self, code: CodeType) -> int:
        """``PLATFORM``, ``PROJECT`` or ``FOREIGN``."""
        found = self._kinds.get(id(code))
        return self._learn(code) if found is None else found

    def relative(self, file: str) -> str:
        """A file of the project by its path within it, others by their absolute path."""
        path = os.path.realpath(file)
        return path[len(self._root) :] if path.startswith(self._root) else path

    def _learn(self, code: CodeType) -> int:
        kind = self._kinds[id(code)] = self._classify(code.co_filename)
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
            return PLATFORM if installed in _FOUNDATION else FOREIGN
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
    """A point as JSON: ``file``, ``line``, ``function``, ``code`` and ``span``.

    ``span`` is line, column, end line and end column (lines from 1, columns in bytes from 0) of the expression that
    ran, or None before Python 3.11 (https://peps.python.org/pep-0657/).
    """
    line, span = _lines(point)
    return {
        "file": frames.relative(point.code.co_filename),
        "line": line,
        "span": span,
        "function": point.code.co_name,
        "code": linecache.getline(point.code.co_filename, line).strip(),
    }


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
