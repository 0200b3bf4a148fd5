"""The runs of a proof as rows of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.report.head import duration_text
from devfix.report.runs.verdict import cells

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["RunRow", "run_rows"]

_PURPOSES = {
    "original/cpu": "the original without an accelerator",
    "original/device": "the original on the accelerator",
    "original/unchecked": "the original without checks of devices",
    "patched/cpu": "the patched script without an accelerator",
    "patched/device": "the patched script on the accelerator",
}


@dataclass(frozen=True)
class RunRow:
    """A run in the table.

    Attributes:
        name: the name of the run.
        purpose: what ran where, in words.
        cells: outcome, steps, first loss, last loss and largest difference as text.
        tone: ``bad`` if the run failed, else nothing.
        time: its duration; empty if it is not known.

    """

    name: str
    purpose: str
    cells: tuple[str, str, str, str, str]
    tone: str
    time: str


def run_rows(proof: Proof) -> list[RunRow]:
    """Return the rows of the runs that the report shows."""
    return [_row(proof, name) for name in proof.rows]


def _row(proof: Proof, name: str) -> RunRow:
    run = proof.verdict.runs[name]
    purpose = _PURPOSES.get(name, "")
    if name == proof.compared_with:
        purpose = f"{purpose}; the reference" if purpose else "the reference"
    return RunRow(
        name, purpose, cells(proof, name), "" if run.ok else "bad", duration_text(run.wall) if run.wall else ""
    )
