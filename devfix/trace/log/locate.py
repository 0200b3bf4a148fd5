"""Map the frames of a log to lines of the project, by the ends of their paths and by their printed source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from devfix.sources import NOTEBOOK
from devfix.trace.failure_trace import Position
from devfix.trace.log.parse import LoggedFrame

__all__ = ["is_cell", "positions_of", "with_cell"]

_INSTALLED = re.compile(r"(?:site|dist)-packages[\\/]|[\\/]lib[\\/]python\d|[\\/]conda[\\/]pkgs[\\/]", re.IGNORECASE)
_MIN_CODE = 8  # characters of source that identify a line


def positions_of(frames: Iterable[LoggedFrame], texts: Mapping[str, str]) -> list[Position | None]:
    """Return the position of each frame in the project; None for frames of other projects or of other versions.

    Args:
        frames: the frames of the log.
        texts: contents of the project's files, by the names for the result.

    """
    lines = {name: text.splitlines() for name, text in texts.items()}
    return [_position(frame, lines) for frame in frames]


def with_cell(position: Position, texts: Mapping[str, str]) -> Position:
    """Return the position with its cell if its file is a notebook."""
    if not position.file.endswith(NOTEBOOK):
        return position
    from devfix.sources.notebooks import place_in

    return replace(position, cell=place_in(texts.get(position.file, ""), position.line))


def _position(frame: LoggedFrame, texts: Mapping[str, Sequence[str]]) -> Position | None:
    if frame.file is not None and _INSTALLED.search(frame.file):
        return None
    best: tuple[tuple[int, bool, int], Position] | None = None
    for name, lines in texts.items():
        shared = 0 if frame.file is None else _shared_end(frame.file, name)
        if shared == 0 and not is_cell(frame):
            continue
        line = _line(frame, lines, must_have_code=is_cell(frame))
        if line is None:
            continue
        rank = (shared, line == frame.line, -abs(line - frame.line))
        if best is None or rank > best[0]:
            best = rank, Position(name, line, frame.function, lines[line - 1].strip())
    return best[1] if best else None


def is_cell(frame: LoggedFrame) -> bool:
    """Return whether the frame is a notebook cell, which has a file of its own in a log."""
    return frame.file is None or frame.file.startswith("<") or bool(re.search(r"ipykernel_\d+[\\/]", frame.file))


def _shared_end(file: str, name: str) -> int:
    """Return the number of trailing components that two paths share."""
    parts = [re.split(r"[\\/]+", path.removeprefix("~")) for path in (file, str(PurePosixPath(name)))]
    shared = 0
    for one, other in zip(*map(reversed, parts), strict=False):
        if one.lower() != other.lower():
            break
        shared += 1
    return shared


def _line(frame: LoggedFrame, lines: Sequence[str], must_have_code: bool) -> int | None:
    """Return the nearest line with the frame's source; without source, the frame's line number."""
    code = _normalized(frame.code)
    if not code:
        return frame.line if not must_have_code and 0 < frame.line <= len(lines) else None
    matching = [number for number, line in enumerate(lines, 1) if _matches(code, _normalized(line))]
    if must_have_code and (len(code) < _MIN_CODE or len(matching) > 1):
        return None
    return min(matching, key=lambda number: abs(number - frame.line), default=None)


def _normalized(code: str) -> str:
    return re.sub(r"\s+", "", code.split("  # ")[0]).rstrip("…")


def _matches(code: str, line: str) -> bool:
    """Return whether two lines are equal, or the first is the second cut off by the width of a terminal."""
    return code == line or (len(code) >= 2 * _MIN_CODE and line.startswith(code))
