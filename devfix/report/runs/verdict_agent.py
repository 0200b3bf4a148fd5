"""A proof for coding agents; :mod:`devfix.report.agent` documents the lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.agent.lines import cut, hunk_lines, last_line, text_of
from devfix.report.runs.run_patch import old_content
from devfix.report.runs.verdict import cells, difference_lines, sentence

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["dumps"]

_HEADINGS = ("", "steps ", "first loss ", "last loss ", "largest difference ")
_NO_VALUE = "–"


def dumps(proof: Proof, command: str) -> str:
    """Return the lines, each with a newline; ``command`` is the next one, or empty."""
    return "".join(f"{line}\n" for line in _lines(proof, command))


def _lines(proof: Proof, command: str) -> Iterator[str]:
    yield f"verdict {cut(sentence(proof))}"
    for name in proof.rows:
        values = [
            heading + value for heading, value in zip(_HEADINGS, cells(proof, name), strict=True) if value != _NO_VALUE
        ]
        yield f"{name}: {cut(', '.join(values))}"
    yield from (f"output: {cut(line)}" for line in difference_lines(proof))
    yield from (f"note: {cut(remark)}" for remark in proof.remarks)
    texts = [
        (path, text_of(path, old_content(proof, path)), text_of(path, new))
        for path, new in sorted(proof.changes.items())
    ]
    yield from hunk_lines(texts, "--output-format json")
    number = len(proof.changed)
    yield last_line(f"{proof.verdict.status}, {number} {'file' if number == 1 else 'files'} in the patch", command)
