"""A matrix of machines for coding agents; :mod:`devfix.report.agent` documents the lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.agent.lines import cut, last_line
from devfix.report.runs.matrix import compared, ending, failures, machine_name, sentence

if TYPE_CHECKING:
    from devfix.verify.matrix import Matrix

__all__ = ["dumps"]


def dumps(matrix: Matrix, command: str) -> str:
    """Return the lines, each with a newline; ``command`` is the next one, or empty."""
    return "".join(f"{line}\n" for line in _lines(matrix, command))


def _lines(matrix: Matrix, command: str) -> Iterator[str]:
    for row in matrix.rows:
        before = f"before {ending(row.before)}, after " if row.before is not None else ""
        told = compared(matrix, row)
        yield f"{machine_name(row)}: {cut(before + ending(row.after))}{f', {told}' if told else ''}"
    yield from (cut(line) for line in failures(matrix))
    yield from (f"note: {cut(note)}" for note in matrix.notes)
    number = len(matrix.changed)
    files = f"{number} {'file' if number == 1 else 'files'} in the patch"
    yield last_line(f"{sentence(matrix).removesuffix('.')}; {files}", command)
