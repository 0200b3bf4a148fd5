"""A matrix of machines as one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.report.diffs import diff_view
from devfix.report.head import UNKNOWN, About, Head, Total
from devfix.report.html import render_page
from devfix.report.runs.chart import Chart, chart
from devfix.report.runs.curves import finite_curves
from devfix.report.runs.matrix import compared, ending, failures, machine_name, sentence
from devfix.report.runs.run_head import run_title
from devfix.report.runs.run_patch import patch_bytes, patch_text
from devfix.report.runs.verdict import number

if TYPE_CHECKING:
    from devfix.verify.matrix import Matrix, Row
    from devfix.verify.records import Failure

__all__ = ["page"]


@dataclass(frozen=True)
class _Machine:
    """A row of the table, with its chart."""

    name: str
    before: str
    after: str
    last_loss: str
    compared: str
    is_good: bool
    before_is_good: bool
    chart: Chart | None


def page(matrix: Matrix, about: About = UNKNOWN) -> str:
    """Return the HTML file.

    Args:
        matrix: the runs on all machines.
        about: the command behind the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    torch = next((row.after.torch for row in matrix.rows if row.after.torch), "")
    return render_page(
        "matrix.html",
        Head(
            command="verify",
            title=run_title(matrix.experiment),
            tone="good" if matrix.is_good else "bad",
            label="portable" if matrix.is_good else "not portable",
            sentence=sentence(matrix),
            totals=(
                Total("machine" if len(matrix.rows) == 1 else "machines", f"{len(matrix.rows):,}"),
                Total("file changed" if len(matrix.changed) == 1 else "files changed", f"{len(matrix.changed):,}"),
            ),
            facts=(("Reference", matrix.reference_name), ("Interpreter", matrix.experiment.python)),
            about=about.with_torch(torch),
        ),
        styles=("chart.css",),
        scripts=("chart.js",),
        matrix=matrix,
        machines=[_machine(matrix, row) for row in matrix.rows],
        sentences=failures(matrix),
        diff=diff_view(patch_text(matrix), patch_bytes(matrix)),
        failures=[(name, failure) for row in matrix.rows for name, failure in _failures(row)],
    )


def _machine(matrix: Matrix, row: Row) -> _Machine:
    curves = {}
    if matrix.reference is not None and row.after is not matrix.reference:
        curves = {matrix.reference_name: matrix.reference.losses, machine_name(row): row.after.losses}
    return _Machine(
        machine_name(row),
        ending(row.before),
        ending(row.after),
        number(row.after.losses[-1]) if row.after.losses else "–",
        compared(matrix, row),
        row.is_good,
        row.before is None or row.before.ok,
        chart(finite_curves({name: enumerate(losses, 1) for name, losses in curves.items()})),
    )


def _failures(row: Row) -> list[tuple[str, Failure]]:
    sides = (("before", row.before), ("after", row.after))
    return [
        (f"{machine_name(row)}, {side}", run.failure)
        for side, run in sides
        if run is not None and run.failure is not None
    ]
