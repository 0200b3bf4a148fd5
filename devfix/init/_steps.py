"""Outcomes of one setup step: an addition, already present, or refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from devfix import sources
from devfix.model import FileChange, Problem

__all__ = ["Addition", "Present", "Refused", "Step", "read"]


@dataclass(frozen=True)
class Addition:
    """A file to create (``old`` is ``None``), or to add lines to."""

    path: str
    old: bytes | None
    new: bytes

    @property
    def change(self) -> FileChange:
        """The change, for a diff."""
        return FileChange(self.path, self.old or b"", self.new)

    def write(self) -> None:
        """Write the file atomically.

        Raises:
            devfix.sources.SourceError: the file cannot be written, or was changed or created meanwhile.

        """
        if self.old is not None:
            sources.write(self.change)
            return
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            sources.write_whole(Path(self.path), (self.new,), fresh=True)
        except FileExistsError as error:
            problem = Problem(self.path, "was created meanwhile, so it was not written", hint="run devfix again")
            raise sources.SourceError(problem) from error
        except OSError as error:
            problem = Problem(self.path, f"cannot be written: {error.strerror or error}")
            raise sources.SourceError(problem) from error


@dataclass(frozen=True)
class Present:
    """The step is already done; ``content`` names what exists, such as ``[tool.devfix]``."""

    path: str
    content: str


@dataclass(frozen=True)
class Refused:
    """The step would change existing content; ``snippet`` is the text to add by hand."""

    path: str
    reason: str
    snippet: str = ""


Step = Addition | Present | Refused


def read(path: str) -> bytes | None:
    """Return a file's content; ``None`` if there is no such file.

    Raises:
        OSError: the file cannot be read.

    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
