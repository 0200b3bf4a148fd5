"""Which lines of the project the frames of a log are: by the ends of paths, and by the source that was printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from devfix.sources import NOTEBOOK
from devfix.trace.log.parse import LoggedFrame
from devfix.trace.story import Position

__all__ = ["located", "placed"]

_INSTALLED = re.compile(r"(?:site|dist)-packages[\\/]|[\\/]lib[\\/]python\d|[\\/]conda[\\/]pkgs[\\/]", re.IGNORECASE)
_SHORTEST = 8  # characters of source that say more than ``x`` or ``pass`` do


def placed(frames: Iterable[LoggedFrame], texts: Mapping[str, str]) -> list[Position | None]:
    """The position of each frame in the project; None for a frame that is elsewhere, or in another version of it.

    Args:
        frames: as the log has them.
        texts: the project's files by the names that positions are to have.

    """
    lines = {name: text.splitlines() for name, text in texts.items()}
    return [_position(frame, lines) for frame in frames]


def located(position: Position, texts: Mapping[str, str]) -> Position:
    """The position with its cell, where its file is a notebook."""
    if not position.file.endswith(NOTEBOOK):
        return position
    from devfix.sources.notebooks import place_in

    return replace(position, place=place_in(texts.get(position.file, ""), position.line))


def _position(frame: LoggedFrame, texts: Mapping[str, Sequence[str]]) -> Position | None:
    if frame.file is not None and _INSTALLED.search(frame.file):
        return None
    best: tuple[tuple[int, bool, int], Position] | None = None
    for name, lines in texts.items():
        shared = 0 if frame.file is None else _shared_end(frame.file, name)
        if shared == 0 and not _is_cell(frame):
            continue
        line = _line(frame, lines, must_have_code=_is_cell(frame))
        if line is None:
            continue
        rank = (shared, line == frame.line, -abs(line - frame.line))
        if best is None or rank > best[0]:
            best = rank, Position(name, line, frame.function, lines[line - 1].strip())
    return best[1] if best else None


def _is_cell(frame: LoggedFrame) -> bool:
    """Whether it is a frame of a notebook, whose cells are files of their own."""
    return frame.file is None or frame.file.startswith("<") or bool(re.search(r"ipykernel_\d+[\\/]", frame.file))


def _shared_end(file: str, name: str) -> int:
    """How many parts the ends of two paths have in common."""
    parts = [re.split(r"[\\/]+", path.removeprefix("~")) for path in (file, str(PurePosixPath(name)))]
    shared = 0
    for one, other in zip(*map(reversed, parts), strict=False):
        if one.lower() != other.lower():
            break
        shared += 1
    return shared


def _line(frame: LoggedFrame, lines: Sequence[str], must_have_code: bool) -> int | None:
    """The line with the frame's source that is nearest; without source, the line of its number."""
    wanted = _normal(frame.code)
    if not wanted:
        return frame.line if not must_have_code and 0 < frame.line <= len(lines) else None
    same = [number for number, line in enumerate(lines, 1) if _is_same(wanted, _normal(line))]
    if must_have_code and (len(wanted) < _SHORTEST or len(same) > 1):
        return None
    return min(same, key=lambda number: abs(number - frame.line), default=None)


def _normal(code: str) -> str:
    return re.sub(r"\s+", "", code.split("  # ")[0]).rstrip("…")


def _is_same(wanted: str, line: str) -> bool:
    """Equal, or cut off by the width of a terminal."""
    return wanted == line or (len(wanted) >= 2 * _SHORTEST and line.startswith(wanted))
