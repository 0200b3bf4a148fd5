"""Frames of the user's code: found on the stack in one or two microseconds, and resolved to source only on failure.

A *chain* is the call stack of a point restricted to the project, the innermost frame first; each frame is a code object
and an instruction.  Frames of PyTorch, the standard library and the probe are omitted.  If a frame of an installed
package is deeper than the project's innermost frame, the chain also records it, because the bug may be there.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
import sysconfig
from contextlib import suppress
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, NamedTuple

__all__ = ["FOREIGN", "PROJECT", "Chain", "Frames", "Point", "position"]

PLATFORM, PROJECT, FOREIGN, LOADER, _END = range(5)

#: Installed packages that are never considered as the location of a bug.
_PLATFORM_PACKAGES = ("torch", "numpy", "scipy", "functorch", "torchgen", "_pytest", "pytest", "IPython", "ipykernel")
_MAX_DEPTH = 6
_FOR_ITER = opmap["FOR_ITER"]
_LOADER = os.path.join("torch", "utils", "data") + os.sep
_PROBE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple(
    os.path.realpath(path) + os.sep for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if path
)

#: Line, column, end line and end column.
_Span = tuple[int, int, int, int]


class Point(NamedTuple):
    """An instruction of a code object."""

    code: CodeType
    instruction: int


class Chain(NamedTuple):
    """Points of the project, the innermost first, and the innermost point of an installed package called by them.

    ``loader``: a data loader is on the stack between or below them.
    """

    points: tuple[Point, ...]
    foreign: Point | None
    loader: bool = False


class Frames:
    """Classification of frames: the user's project, installed packages, and the platform.

    Args:
        root: the project's folder.
        hidden: folders whose frames are omitted like the probe's: the simulator's.

    """

    def __init__(self, root: str, hidden: tuple[str, ...] = ()) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._hidden = (_PROBE_FOLDER, *(os.path.realpath(each) + os.sep for each in hidden))
        self._kinds: dict[int, int] = {}
        self._code_objects: list[CodeType] = []  # keeps their ids unique

    def chain(self, frame: FrameType | None) -> Chain:
        """Return the chain that ends in ``frame``."""
        kind_of = self._kinds.get
        points: list[Point] = []
        foreign, loader = None, False
        while frame is not None:
            code = frame.f_code
            kind = kind_of(id(code))
            if kind is None:
                kind = self._classify_code(code)
            if kind:  # most frames are the platform's
                if kind == PROJECT:
                    points.append(Point(code, frame.f_lasti))
                    if len(points) == _MAX_DEPTH:
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
        """Return ``PLATFORM``, ``PROJECT``, ``FOREIGN``, or ``LOADER`` for PyTorch's data loader."""
        found = self._kinds.get(id(code))
        return self._classify_code(code) if found is None else found

    def relative(self, file: str) -> str:
        """Return a file's path relative to the project, or its absolute path if it is outside."""
        path = os.path.realpath(file)
        return path[len(self._root) :] if path.startswith(self._root) else path

    def _classify_code(self, code: CodeType) -> int:
        starts = code.co_name == "execute" and code.co_filename.startswith(_PROBE_FOLDER)
        kind = self._kinds[id(code)] = _END if starts else self._classify(code.co_filename)
        self._code_objects.append(code)
        return kind

    def _classify(self, filename: str) -> int:
        if filename.startswith("<"):
            return PLATFORM
        path = os.path.realpath(filename)
        if path.startswith(self._hidden):
            return PLATFORM
        installed = _package(path)
        if installed is not None:
            if installed not in _PLATFORM_PACKAGES:
                return FOREIGN
            return LOADER if _LOADER in path else PLATFORM
        if path.startswith(self._root):
            return PROJECT
        return PLATFORM if path.startswith(_LIBRARIES) else FOREIGN


def _package(path: str) -> str | None:
    """Return the top-level folder or module of an installed file; None for other files."""
    for mark in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        _, found, rest = path.rpartition(mark)
        if found:
            return rest.split(os.sep)[0].removesuffix(".py")
    return None


def position(point: Point, frames: Frames) -> dict[str, Any]:
    """Return a point as JSON: ``file``, ``line``, ``function``, ``code``, ``span`` and ``text``.

    ``span`` is line, column, end line and end column (lines from 1, columns in bytes from 0) of the executed
    expression, and ``text`` is its source; both are None before Python 3.11 (https://peps.python.org/pep-0657/).
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


@functools.lru_cache(maxsize=64)
def _loops(file: str) -> dict[_Span, _Span]:
    """Return the spans of a file's ``for`` statements by those of what they iterate over.

    From Python 3.13 on, the instruction that fetches the next item has the position of the latter.
    """
    with suppress(SyntaxError, ValueError, RecursionError):
        tree = ast.parse("".join(linecache.getlines(file)))
        return {_span(loop.iter): _span(loop) for loop in ast.walk(tree) if isinstance(loop, ast.For)}
    return {}


def _span(node: ast.expr | ast.stmt) -> _Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _lines(point: Point) -> tuple[int, list[int] | None]:
    code, instruction = point
    if sys.version_info >= (3, 11):
        for number, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            if number == instruction // 2 and line is not None:
                if end_line is None or column is None or end_column is None:
                    return line, None
                span = (line, column, end_line, end_column)
                if code.co_code[instruction] == _FOR_ITER:
                    span = _loops(code.co_filename).get(span, span)
                return span[0], [*span]
    last = code.co_firstlineno
    for start, _, line in code.co_lines():
        if start > instruction:
            break
        last = line if line is not None else last
    return last, None
