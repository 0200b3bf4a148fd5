"""Coordinates of two loss curves for SVG pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from devfix.report.runs.curves import Curve, downsample, ticks

__all__ = ["Chart", "Line", "Point", "chart"]

_MAX_MARKS = 60  # lines with more losses have no markers
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 300, 64, 12, 12, 36


class Point(NamedTuple):
    """A loss, its number from 1, and its coordinates."""

    number: int
    loss: float
    x: float
    y: float


class Line(NamedTuple):
    """A curve in the chart: the name of its run, and its losses."""

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


@dataclass(frozen=True)
class Chart:
    """A chart: its size, the edges of the plotting area, the curves, and the tick labels with their coordinates."""

    lines: list[Line]
    levels: list[tuple[float, str]]
    numbers: list[tuple[float, int]]
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


def chart(curves: list[Curve], max_points: int = 1200) -> Chart | None:
    """Return the chart of curves, with at most about ``max_points`` points each; None if there are no curves."""
    if not curves:
        return None
    last = max(points[-1][0] for _, points in curves)
    values = [loss for _, points in curves for _, loss in points]
    low, high = min(values), max(values)
    if high == low:
        low, high = low - (abs(low) or 1.0) * 0.1, high + (abs(high) or 1.0) * 0.1

    def x_of(number: float) -> float:
        return round(_LEFT + (number - 1) / max(last - 1, 1) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y_of(loss: float) -> float:
        return round(_TOP + (high - loss) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    lines = [
        Line(name, [Point(number, loss, x_of(number), y_of(loss)) for number, loss in downsample(points, max_points)])
        for name, points in curves
    ]
    levels = [low + (high - low) * step / 4 for step in range(5)]
    return Chart(lines, [(y_of(level), f"{level:.4g}") for level in levels], [(x_of(n), n) for n in ticks(last)])
