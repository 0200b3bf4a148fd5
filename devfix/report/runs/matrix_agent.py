"""A matrix of machines for coding agents; :mod:`devfix.report.agent` documents the lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.agent.lines import cut, last_line
from devfix.report.runs.matrix import compared, ending, failures, machine_name, sentence

if TYPE_CHECKING:
    from devfix.verify.matrix import Matrix

__all__ = ["dumps", "machine_lines"]


def dumps(matrix: Matrix, command: str) -> str:
    """Return the lines, each with a newline; ``command`` is the next one, or empty."""
    number = len(matrix.changed)
    files = f"{number} {'file' if number == 1 else 'files'} in the patch"
    last = last_line(f"{sentence(matrix).removesuffix('.')}; {files}", command)
    return "".join(f"{line}\n" for line in (*machine_lines(matrix), last))


def machine_lines(matrix: Matrix) -> Iterator[str]:
    """Yield a line for each machine, failure and note, without newlines."""
    for row in matrix.rows:
        before = f"before {ending(row.before)}, after " if row.before is not None else ""
        told = compared(matrix, row)
        yield f"{machine_name(row)}: {cut(before + ending(row.after))}{f', {told}' if told else ''}"
    yield from (cut(line) for line in failures(matrix))
    yield from (f"note: {cut(note)}" for note in matrix.notes)
