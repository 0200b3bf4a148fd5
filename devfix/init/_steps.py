"""What can become of one part: it is added, it is there already, or it is left to a person."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from devfix import sources
from devfix.model import FileChange, Problem

__all__ = ["Addition", "Part", "Present", "Refused", "read"]


@dataclass(frozen=True)
class Addition:
    """A file to make (``old`` is ``None``), or to add lines to."""

    path: str
    old: bytes | None
    new: bytes

    @property
    def change(self) -> FileChange:
        """The same for a diff."""
        return FileChange(self.path, self.old or b"", self.new)

    def write(self) -> None:
        """Write it in one step.  Raises :class:`devfix.sources.SourceError`, also where the file has come meanwhile."""
        if self.old is not None:
            sources.write(self.change)
            return
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            sources.write_whole(Path(self.path), (self.new,), fresh=True)
        except FileExistsError as error:
            problem = Problem(self.path, "is there by now, so it was not written", hint="run devfix again")
            raise sources.SourceError(problem) from error
        except OSError as error:
            problem = Problem(self.path, f"cannot be written: {error.strerror or error}")
            raise sources.SourceError(problem) from error


@dataclass(frozen=True)
class Present:
    """The part is there; ``what`` says what of it, as ``[tool.devfix]``."""

    path: str
    what: str


@dataclass(frozen=True)
class Refused:
    """The part cannot be added without touching what is there; ``snippet`` is what a person would add."""

    path: str
    reason: str
    snippet: str = ""


Part = Addition | Present | Refused


def read(path: str) -> bytes | None:
    """A file's bytes; ``None`` where there is none.  Raises :class:`OSError` for one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
