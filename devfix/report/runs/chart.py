"""Coordinates of two loss curves and of their difference, for SVG pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from devfix.report.runs.curves import Curve, nice_levels, thin_alike, ticks

__all__ = ["Chart", "Line", "Panel", "Point", "chart"]

_DIGITS = 9  # enough for every float32
_MAX_MARKS = 60  # lines with more losses have no markers
_WIDTH, _LEFT, _RIGHT = 960, 72, 16
_LOSS = (16, 276)  # top and bottom of the panels
_DIFFERENCE = (312, 392)
_HEIGHT = 424


class Point(NamedTuple):
    """A loss or a difference, its number from 1, and its coordinates."""

    number: int
    value: float
    x: float
    y: float


class Line(NamedTuple):
    """A curve in the chart: the name of its run, and its points."""

    name: str
    losses: list[Point]

    @property
    def points(self) -> str:
        """The points in the format of SVG's ``points``."""
        return " ".join(f"{point.x},{point.y}" for point in self.losses)

    @property
    def marks(self) -> list[tuple[float, float]]:
        """Marker positions; empty if there are too many points."""
        return [(point.x, point.y) for point in self.losses] if len(self.losses) <= _MAX_MARKS else []


class Panel(NamedTuple):
    """A plotting area: its top and bottom, and its levels with their coordinates."""

    top: int
    bottom: int
    levels: list[tuple[float, str]]


@dataclass(frozen=True)
class Chart:
    """A chart: the curves, their difference at the numbers that both have, the panels, and the ticks below them.

    Attributes:
        lines: the curves; the last one is the patched script's.
        difference: the patched script's losses minus the expected ones.
        loss_panel, difference_panel: the plotting areas.
        numbers: the ticks of the horizontal axis.
        summary: the largest difference, in words.

    """

    lines: list[Line]
    difference: Line
    loss_panel: Panel
    difference_panel: Panel
    numbers: list[tuple[float, int]]
    summary: str
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT

    @property
    def readings(self) -> list[list[float | None]]:
        """Number, coordinate, and the loss of each curve or None, by number."""
        values = [{point.number: float(f"{point.value:.{_DIGITS}g}") for point in line.losses} for line in self.lines]
        places = {point.number: point.x for line in self.lines for point in line.losses}
        return [[number, places[number], *(found.get(number) for found in values)] for number in sorted(places)]


def chart(curves: list[Curve], max_points: int = 1200) -> Chart | None:
    """Return the chart of two curves, with at most about ``max_points`` points each; None if there are no curves."""
    if not curves:
        return None
    last = max(points[-1][0] for _, points in curves)
    differences = _differences(curves)
    shown = thin_alike([*curves, ("", differences)], max_points)

    def x_of(number: float) -> float:
        return round(_LEFT + (number - 1) / max(last - 1, 1) * (_WIDTH - _LEFT - _RIGHT), 1)

    def line(curve: Curve, y_of: Callable[[float], float]) -> Line:
        return Line(curve[0], [Point(number, value, x_of(number), y_of(value)) for number, value in curve[1]])

    loss_panel, loss_y = _panel([loss for _, points in curves for _, loss in points], *_LOSS, 5)
    difference_panel, difference_y = _panel([0.0, *(value for _, value in differences)], *_DIFFERENCE, 2)
    return Chart(
        lines=[line(curve, loss_y) for curve in shown[:-1]],
        difference=line(shown[-1], difference_y),
        loss_panel=loss_panel,
        difference_panel=difference_panel,
        numbers=[(x_of(number), number) for number in ticks(last)],
        summary=_summary(differences),
    )


def _differences(curves: Sequence[Curve]) -> list[tuple[int, float]]:
    expected, patched = (dict(points) for _, points in (curves[0], curves[-1]))
    return [(number, patched[number] - loss) for number, loss in expected.items() if number in patched]


def _summary(differences: Sequence[tuple[int, float]]) -> str:
    number, value = max(differences, key=lambda point: abs(point[1]), default=(0, 0.0))
    if not differences:
        return "no pass in common"
    return f"largest difference {abs(value):.3g}, at pass {number}" if value else "no difference at any pass"


def _panel(values: Sequence[float], top: int, bottom: int, count: int) -> tuple[Panel, Callable[[float], float]]:
    """Return the panel of values, and the function from a value to its coordinate."""
    low, high = min(values), max(values)
    if high == low:
        margin = (abs(low) or 1.0) * 0.1
        low, high = low - margin, high + margin
    levels = nice_levels(low, high, count)
    low, high = min(low, levels[0][0]), max(high, levels[-1][0])

    def y_of(value: float) -> float:
        return round(top + (high - value) / (high - low) * (bottom - top), 1)

    return Panel(top, bottom, [(y_of(level), text) for level, text in levels]), y_of
