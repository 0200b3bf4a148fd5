"""A file as it was read, and the error if it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.model import CellMap, Problem

__all__ = ["SourceError", "SourceFile", "as_text"]


class SourceError(Exception):
    """A file that cannot be read or written; ``problem`` says what happened, where, and what to do.

    ``lacks`` names the extra to install, if that is the only reason.
    """

    def __init__(self, problem: Problem, lacks: str = "") -> None:
        super().__init__(f"{problem.path}: {problem.message}")
        self.problem = problem
        self.lacks = lacks

    def __reduce__(self) -> tuple[type[SourceError], tuple[Problem, str]]:
        return type(self), (self.problem, self.lacks)


@dataclass(frozen=True)
class SourceFile:
    """One file as it was read.

    ``path`` is the name that the user gave, or a name under the folder that they gave.  ``text`` is decoded, without
    byte-order mark, with newlines untouched.  ``encoding`` is a Python codec name, never ``utf-8-sig``.

    For a notebook, ``text`` is the program of its cells (:mod:`devfix.sources.notebooks`), ``cells`` maps its lines to
    cells, ``problems`` are cells that are not valid Python, and ``notes`` are other remarks.
    """

    path: str
    raw: bytes
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    cells: CellMap | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def as_text(raw: bytes) -> str:
    """Return the file of a notebook as text, without byte-order mark."""
    return raw.decode("utf-8-sig")
