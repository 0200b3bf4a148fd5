"""A proof as one HTML file: nothing is loaded from elsewhere, no script runs, light and dark."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from devfix.report._html import rendered
from devfix.report.chart import chart
from devfix.report.curves import curves
from devfix.report.verdict import cells, sentence

if TYPE_CHECKING:
    from devfix.report.verdict import Proof

__all__ = ["kind_of_line", "page"]


def page(proof: Proof) -> str:
    """The whole file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    runs = proof.verdict.runs
    return rendered(
        "verdict.html",
        proof=proof,
        verdict=proof.verdict,
        sentence=sentence(proof),
        rows=[(name, cells(proof, name)) for name in proof.rows],
        chart=chart(curves(proof)),
        diff=_diff(proof),
        failures=[(name, runs[name].failure) for name in proof.rows if runs[name].failure is not None],
    )


def _diff(proof: Proof) -> list[tuple[str, str]]:
    """The patch as lines with their kind: ``file``, ``hunk``, ``added``, ``removed``, or none."""
    lines: list[tuple[str, str]] = []
    for name in proof.changed:
        try:
            before = (proof.experiment.project.root / name).read_bytes()
        except FileNotFoundError:
            before = b""
        old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, proof.changes[name]))
        diff = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
        lines.extend((kind_of_line(line), line) for line in diff)
    return lines


def kind_of_line(line: str) -> str:
    """How a line of a unified diff is shown: ``file``, ``hunk``, ``added``, ``removed``, or as it is."""
    if line.startswith(("--- ", "+++ ")):
        return "file"
    return {"@": "hunk", "+": "added", "-": "removed"}.get(line[:1], "")
