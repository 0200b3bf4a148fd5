"""A proof as one HTML file without external resources or scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report import terminal_diff
from devfix.report.html import render_page
from devfix.report.runs.chart import chart
from devfix.report.runs.curves import curves
from devfix.report.runs.verdict import cells, difference_lines, sentence
from devfix.vcs.hunks import highlighted_lines

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["page"]


def page(proof: Proof) -> str:
    """Return the HTML file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    runs = proof.verdict.runs
    return render_page(
        "verdict.html",
        proof=proof,
        verdict=proof.verdict,
        sentence=sentence(proof),
        rows=[(name, cells(proof, name)) for name in proof.rows],
        chart=chart(curves(proof)),
        difference_lines=difference_lines(proof),
        diff=highlighted_lines(_diff(proof)),
        failures=[(name, runs[name].failure) for name in proof.rows if runs[name].failure is not None],
    )


def _diff(proof: Proof) -> str:
    """Return the patch as a unified diff for terminals."""
    lines: list[str] = []
    for name in proof.changed:
        try:
            before = (proof.experiment.project.root / name).read_bytes()
        except FileNotFoundError:
            before = b""
        lines.extend(terminal_diff.lines(name, before, proof.changes[name]))
    return "\n".join(lines)
