"""A proof as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report import terminal_diff
from devfix.report.diffs import diff_view
from devfix.report.head import UNKNOWN, About, Head
from devfix.report.html import render_page
from devfix.report.runs.chart import chart
from devfix.report.runs.curves import curves
from devfix.report.runs.run_head import run_facts, run_title
from devfix.report.runs.verdict import cells, difference_lines, sentence

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["page"]


def page(proof: Proof, about: About = UNKNOWN) -> str:
    """Return the HTML file.

    Args:
        proof: the verdict with its runs.
        about: the command behind the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    runs = proof.verdict.runs
    return render_page(
        "verdict.html",
        _head(proof, about),
        proof=proof,
        sentence=sentence(proof),
        rows=[(name, cells(proof, name)) for name in proof.rows],
        chart=chart(curves(proof)),
        difference_lines=difference_lines(proof),
        diff=diff_view(_diff(proof)),
        failures=[(name, runs[name].failure) for name in proof.rows if runs[name].failure is not None],
    )


def _head(proof: Proof, about: About) -> Head:
    verdict = proof.verdict
    torch = next((run.torch for run in verdict.runs.values() if run.torch), "")
    return Head(
        command="verify",
        title=run_title(proof.experiment),
        tone="good" if verdict.good else "unsure" if verdict.status == "inconclusive" else "bad",
        label=verdict.status,
        sentence=verdict.reason,
        facts=run_facts(proof.experiment),
        about=about.with_torch(torch),
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
