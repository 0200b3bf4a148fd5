"""Loss curves of the reference and the patched script over each other, for the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.verify.result import Proof

__all__ = ["Curve", "curves", "drawable", "terminal", "thinned", "ticks"]

_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_HEIGHT = 14
_NARROWEST, _WIDEST = 40, 100

#: A curve is a name and its points: number of the loss from 1, and the loss.  Points that are no number are left out.
Curve = tuple[str, list[tuple[int, float]]]


def curves(proof: Proof) -> list[Curve]:
    """The losses of the reference and of the patched script on the device, where both have at least two."""
    runs = proof.verdict.runs
    return drawable({name: enumerate(runs[name].losses, 1) for name in (proof.compared_with, "patched/device")})


def drawable(losses: Mapping[str, Iterable[tuple[int, float]]]) -> list[Curve]:
    """The losses of two runs, by the runs' names, as two curves; none where one of them has less than two points."""
    found = []
    for name, numbered in losses.items():
        points = [(number, loss) for number, loss in numbered if math.isfinite(loss)]
        if len(points) > 1:
            found.append((name, points))
    return found if len(found) == 2 else []


def thinned(points: Sequence[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """At most about ``most`` points: of each stretch the smallest and the largest, so that no spike is lost."""
    stride = max(1, math.ceil(2 * len(points) / most))
    if stride < 3:
        return list(points)
    kept: list[tuple[int, float]] = []
    for start in range(0, len(points), stride):
        part = points[start : start + stride]
        ends = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        kept.extend(sorted(ends))
    return kept


def ticks(last: int) -> list[int]:
    """A few whole numbers from 1 to ``last``."""
    return sorted({round(1 + (last - 1) * step / 4) for step in range(5)})


def terminal(proof: Proof, width: int, coloured: bool) -> str | None:
    """The chart as lines of text; None where there is nothing to draw.

    Raises:
        ImportError: plotext is not installed.

    """
    found = curves(proof)
    if not found:
        return None
    import plotext

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plot_size(max(_NARROWEST, min(width, _WIDEST)), _HEIGHT)
    legend = []
    for (name, points), (marker, sign, colour) in zip(found, _LOOKS, strict=False):
        few = thinned(points, 4 * width)
        draw = plotext.plot if marker == "braille" else plotext.scatter
        draw([number for number, _ in few], [loss for _, loss in few], marker=marker, color=colour)
        legend.append(f"{sign} {name}")
    plotext.xticks(ticks(max(points[-1][0] for _, points in found)))
    drawn = plotext.build().rstrip("\n")
    plotext.clear_figure()
    text = f"loss ({', '.join(legend)}) by backward pass\n{drawn}"
    return text if coloured else "\n".join(line.rstrip() for line in _COLOURS.sub("", text).split("\n"))


_LOOKS = (("braille", "⠤", "blue"), ("x", "x", "orange"))
