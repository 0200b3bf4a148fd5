"""Loss curves of the reference and the patched script in one chart for the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["Curve", "curves", "downsample", "finite_curves", "nice_levels", "terminal_chart", "thin_alike", "ticks"]

_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_HEIGHT = 14
_MIN_WIDTH, _MAX_WIDTH = 40, 100

#: A name, and the finite losses with their numbers from 1.
Curve = tuple[str, list[tuple[int, float]]]


def curves(proof: Proof) -> list[Curve]:
    """Return the losses of the reference and of the patched script on the device, if both have at least two."""
    runs = proof.verdict.runs
    return finite_curves({name: enumerate(runs[name].losses, 1) for name in (proof.compared_with, "patched/device")})


def finite_curves(losses: Mapping[str, Iterable[tuple[int, float]]]) -> list[Curve]:
    """Return the losses of two runs, by name, as two curves; none if a run has fewer than two finite losses."""
    found = []
    for name, numbered in losses.items():
        points = [(number, loss) for number, loss in numbered if math.isfinite(loss)]
        if len(points) > 1:
            found.append((name, points))
    return found if len(found) == 2 else []


def downsample(points: Sequence[tuple[int, float]], max_points: int) -> list[tuple[int, float]]:
    """Return about ``max_points`` points: the minimum and the maximum of each stretch, so that spikes remain."""
    stride = max(1, math.ceil(2 * len(points) / max_points))
    if stride < 3:
        return list(points)
    points_left: list[tuple[int, float]] = []
    for start in range(0, len(points), stride):
        part = points[start : start + stride]
        ends = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        points_left.extend(sorted(ends))
    return points_left


def thin_alike(curves: Sequence[Curve], max_points: int) -> list[Curve]:
    """Thin all curves to the same numbers, so that losses can be compared point by point."""
    numbers = {at for _, points in curves for at, _ in downsample(points, max_points)}
    return [(name, [point for point in points if point[0] in numbers]) for name, points in curves]


def ticks(last: int) -> list[int]:
    """Return 1 and up to six multiples of a round number up to ``last``."""
    step = max(1, round(_round_step((last - 1) / 5)))
    return [1, *(number for number in range(step, last + 1, step) if number > 1 + step / 2 or step == 1 < number)]


def nice_levels(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Return round numbers that span a range, about ``count`` steps apart, with their texts."""
    step = _round_step((high - low) / count)
    digits = max(0, -math.floor(math.log10(step)))
    numbers = range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)
    is_plain = digits <= 4 and max(abs(low), abs(high)) < 1e6
    return [(at * step, f"{at * step:.{digits}f}" if is_plain else f"{at * step:.3g}") for at in numbers]


def _round_step(step: float) -> float:
    """Return the next of 1, 2 and 5 times a power of ten."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9))


def terminal_chart(proof: Proof, width: int, coloured: bool) -> str | None:
    """Return the chart as lines of text; None if there are no curves.

    Raises:
        ImportError: plotext is not installed.

    """
    found = curves(proof)
    if not found:
        return None
    import plotext

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plot_size(max(_MIN_WIDTH, min(width, _MAX_WIDTH)), _HEIGHT)
    legend = []
    for (name, points), (marker, symbol, colour) in zip(found, _STYLES, strict=False):
        few = downsample(points, 4 * width)
        draw = plotext.plot if marker == "braille" else plotext.scatter
        draw([number for number, _ in few], [loss for _, loss in few], marker=marker, color=colour)
        legend.append(f"{symbol} {name}")
    plotext.xticks(ticks(max(points[-1][0] for _, points in found)))
    text = plotext.build().rstrip("\n")
    plotext.clear_figure()
    chart = f"loss ({', '.join(legend)}) by backward pass\n{text}"
    return chart if coloured else "\n".join(line.rstrip() for line in _COLOURS.sub("", chart).split("\n"))


_STYLES = (("braille", "⠤", "blue"), ("x", "x", "orange"))
