"""Two loss curves in the coordinates of a picture, for pages to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from devfix.report.runs.curves import Curve, thinned, ticks

__all__ = ["Chart", "Line", "Place", "chart"]

_FEW_POINTS = 60  # up to here each loss is marked
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 300, 64, 12, 12, 36


class Place(NamedTuple):
    """A loss, its number from 1, and where it is drawn."""

    number: int
    loss: float
    x: float
    y: float


class Line(NamedTuple):
    """A curve in the picture: the name of its run, and its losses."""

    name: str
    places: list[Place]

    @property
    def points(self) -> str:
        """As SVG's ``points``."""
        return " ".join(f"{place.x},{place.y}" for place in self.places)

    @property
    def marks(self) -> list[tuple[float, float]]:
        """Where a loss is marked; of many, none."""
        return [(place.x, place.y) for place in self.places] if len(self.places) <= _FEW_POINTS else []


@dataclass(frozen=True)
class Chart:
    """The picture: its size, the edges of the field that curves are drawn in, curves, and texts along the edges."""

    lines: list[Line]
    levels: list[tuple[float, str]]
    numbers: list[tuple[float, int]]
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


def chart(found: list[Curve], most: int = 1200) -> Chart | None:
    """The picture of curves, with at most about ``most`` points each; None where there are none."""
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

    lines = [
        Line(name, [Place(number, loss, across(number), down(loss)) for number, loss in thinned(points, most)])
        for name, points in found
    ]
    levels = [low + (high - low) * step / 4 for step in range(5)]
    return Chart(lines, [(down(level), f"{level:.4g}") for level in levels], [(across(n), n) for n in ticks(last)])
