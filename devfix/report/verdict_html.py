"""A proof as one HTML file: nothing is loaded from elsewhere, no script runs, light and dark."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NamedTuple

from devfix.report._html import rendered
from devfix.report.curves import Curve, curves, thinned, ticks
from devfix.report.verdict import cells, sentence

if TYPE_CHECKING:
    from devfix.report.verdict import Proof

__all__ = ["kind_of_line", "page"]

_MOST_POINTS = 1200
_FEW_POINTS = 60  # up to here each loss is marked
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 300, 64, 12, 12, 36


class _Line(NamedTuple):
    name: str
    points: str
    marks: list[tuple[float, float]]


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
        chart=_chart(curves(proof)),
        diff=_diff(proof),
        failures=[(name, runs[name].failure) for name in proof.rows if runs[name].failure is not None],
    )


def _chart(found: list[Curve]) -> dict[str, Any] | None:
    """Lines and ticks of the chart in the coordinates of the picture."""
    if not found:
        return None
    last = max(points[-1][0] for _, points in found)
    values = [loss for _, points in found for _, loss in points]
    low, high = min(values), max(values)
    if high == low:
        low, high = low - (abs(low) or 1.0) * 0.1, high + (abs(high) or 1.0) * 0.1

    def across(number: float) -> float:
        return round(_LEFT + (number - 1) / max(last - 1, 1) * (_WIDTH - _LEFT - _RIGHT), 1)

    def down(loss: float) -> float:
        return round(_TOP + (high - loss) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    lines = []
    for name, points in found:
        places = [(across(number), down(loss)) for number, loss in thinned(points, _MOST_POINTS)]
        marks = places if len(places) <= _FEW_POINTS else []
        lines.append(_Line(name, " ".join(f"{x},{y}" for x, y in places), marks))
    levels = [low + (high - low) * step / 4 for step in range(5)]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "bottom": _HEIGHT - _BOTTOM,
        "lines": lines,
        "levels": [(down(level), f"{level:.4g}") for level in levels],
        "numbers": [(across(number), number) for number in ticks(last)],
    }


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
