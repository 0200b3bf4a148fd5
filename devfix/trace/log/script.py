"""Find the script of a log: the file in a folder that its outermost frame is from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from devfix import sources
from devfix.sources import NOTEBOOK
from devfix.trace.log.locate import is_cell, positions_of
from devfix.trace.log.parse import LoggedError, LoggedFrame

__all__ = ["LocatedScript", "find_script", "source_text"]


class LocatedScript(NamedTuple):
    """The program of a log.

    Attributes:
        script: path of the file that was started, or of the outermost known caller.
        files: absolute paths of all files with frames.

    """

    script: str
    files: frozenset[str]


def find_script(errors: Sequence[LoggedError], folder: str) -> LocatedScript | None:
    """Return the program of the first error with a frame in a folder; None if there is none."""
    names = sources.discover([folder]).files
    for error in errors:
        texts = {name: text for name in _named_in(error.frames, names) if (text := source_text(name)) is not None}
        found = [
            (position.file, frame.function)
            for position, frame in zip(positions_of(error.frames, texts), error.frames, strict=True)
            if position is not None
        ]
        if found:
            started = [file for file, function in found if function == "<module>" or file.endswith(NOTEBOOK)]
            script = (started or [file for file, _ in found])[-1]
            return LocatedScript(script, frozenset(os.path.abspath(file) for file, _ in found))
    return None


def source_text(path: str) -> str | None:
    """Return the text of a source file; None if it cannot be read."""
    try:
        return sources.read(path).text
    except sources.SourceError:
        return None


def _named_in(frames: Iterable[LoggedFrame], names: Iterable[str]) -> list[str]:
    """Return the files that frames can be from: those of the same name, and notebooks for their cells."""
    frames = tuple(frames)
    wanted = {re.split(r"[\\/]", frame.file)[-1].lower() for frame in frames if frame.file is not None}
    has_cell = any(is_cell(frame) for frame in frames)
    return [
        name for name in names if os.path.basename(name).lower() in wanted or (has_cell and name.endswith(NOTEBOOK))
    ]
