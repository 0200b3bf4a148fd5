"""A proof as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.diffs import diff_view
from devfix.report.head import UNKNOWN, About, Head, Total, counted
from devfix.report.html import render_page
from devfix.report.runs.chart import chart
from devfix.report.runs.curves import curves
from devfix.report.runs.run_head import run_facts, run_title
from devfix.report.runs.run_patch import patch_bytes, patch_text
from devfix.report.runs.run_rows import run_rows

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["page"]

_MAX_DIFFERENCES = 100  # rows of the table


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
        styles=("chart.css",),
        scripts=("chart.js",),
        proof=proof,
        rows=run_rows(proof),
        chart=chart(curves(proof)),
        differences=proof.output_differences[:_MAX_DIFFERENCES],
        more=max(0, len(proof.output_differences) - _MAX_DIFFERENCES),
        diff=diff_view(patch_text(proof), patch_bytes(proof)),
        failures=[(name, failure) for name in proof.rows if (failure := runs[name].failure) is not None],
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
        totals=tuple(_totals(proof)),
        facts=run_facts(proof.experiment),
        about=about.with_torch(torch),
    )


def _totals(proof: Proof) -> Iterator[Total]:
    run, difference = proof.verdict.runs["patched/device"], proof.difference("patched/device")
    if run.steps:
        yield Total("step" if run.steps == 1 else "steps", f"{run.steps:,}", "of the patched script")
    if difference is not None:
        yield Total("largest difference", f"{difference:.3g}", "between losses", "" if difference else "good")
    if proof.outputs:
        differences = len(proof.output_differences)
        told = counted(differences, "difference", "differences")
        yield Total(
            "output" if len(proof.outputs) == 1 else "outputs",
            f"{len(proof.outputs):,}",
            told,
            "bad" if differences else "good",
        )
    yield Total("file changed" if len(proof.changed) == 1 else "files changed", f"{len(proof.changed):,}")
