"""Description of a timeline as JSON, with the names of its values."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

from torch import Tensor

from ..parameters import untracked
from .frames import PROJECT, Chain, Point, position
from .naming import reachable, variables
from .story import in_package
from .timeline import Stay, Timeline, Use
from .watching import Provenance

__all__ = ["TimelineReport"]

_Rank = tuple[int, int, int]


class TimelineReport:
    """Names of the values of a timeline, taken after the first step and at the end, and its description.

    Args:
        provenance: the recorder.
        timeline: its timeline.

    Attributes:
        data: the timeline as JSON; None before the end.

    """

    def __init__(self, provenance: Provenance, timeline: Timeline) -> None:
        self.data: dict[str, Any] | None = None
        self._provenance = provenance
        self._timeline = timeline
        self._steps = 0
        self._names: dict[int, tuple[_Rank, str]] = {}
        self._points: dict[Point, int] = {}
        self._positions: list[dict[str, Any]] = []

    def after_step(self, steps: int) -> None:
        """Record an optimizer step if there was one since the last call."""
        if steps == self._steps or self.data is not None:
            return
        self._timeline.note_step(steps)
        if not self._steps:
            self._name_values(_stack(sys._getframe(1)))
        self._steps = steps

    def at_end(self, error: BaseException | None = None) -> None:
        """Describe the timeline now, unless it was described before; ``error`` ended the run."""
        if self.data is not None:
            return
        self._name_values(() if error is None else _raised(error))
        self._timeline.finish()
        self.data = self._describe()

    def _name_values(self, frames: Iterable[FrameType]) -> None:
        own = [frame for frame in frames if self._provenance.frames.kind(frame.f_code) == PROJECT]
        scopes = [variables(frame) for frame in own] or [_globals_of_main()]
        with untracked():
            for number, scope in enumerate(scopes):
                for text, value, _ in reachable(scope):
                    node = self._provenance.histories.of(value) if isinstance(value, Tensor) else None
                    if node is not None:
                        rank = (len(re.findall(r"[.\[]|^self\b", text)), number, len(text))  # prefer net to self
                        known = self._names.get(node.index)
                        if known is None or rank < known[0]:
                            self._names[node.index] = rank, text

    def _describe(self) -> dict[str, Any]:
        timeline = self._timeline
        return {
            "duration": timeline.now(),
            "count": self._provenance.histories.count,
            "omitted": timeline.omitted,
            "stays": [self._stay(stay) for stay in timeline.stays()],
            "steps": [list(step) for step in timeline.steps],
            "samples": [list(sample) for sample in timeline.samples],
            "positions": self._positions,
        }

    def _stay(self, stay: Stay) -> dict[str, Any]:
        node = stay.node
        name = self._names.get(node.index)
        return {
            "index": node.index,
            "time": stay.time,
            "end": stay.end,
            "kind": node.kind,
            "operation": node.operation,
            "device": node.device,
            "from": [parent.index for parent in node.parents],
            "shape": list(stay.shape),
            "dtype": str(stay.dtype).removeprefix("torch."),
            "bytes": stay.size,
            "name": None if name is None else name[1],
            "module": stay.by_module,
            "loader": node.chain.loader,
            "use": None if stay.use is None else self._use(stay.use),
            **self._chain(node.chain),
        }

    def _use(self, use: Use) -> dict[str, Any]:
        return {"index": use.event, "time": use.time, **self._chain(use.chain)}

    def _chain(self, chain: Chain) -> dict[str, Any]:
        """Return a chain as indices of positions."""
        return {
            "chain": [self._position(point, PROJECT) for point in chain.points],
            "foreign": None if chain.foreign is None else self._position(chain.foreign, None),
        }

    def _position(self, point: Point, kind: int | None) -> int:
        found = self._points.get(point)
        if found is None:
            found = self._points[point] = len(self._positions)
            frames = self._provenance.frames
            self._positions.append(position(point, frames) if kind == PROJECT else in_package(self._provenance, point))
        return found


def _stack(frame: FrameType | None) -> Iterable[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _raised(error: BaseException) -> Iterable[FrameType]:
    """Return the frames of an exception, the deepest first."""
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        found.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return reversed(found)


def _globals_of_main() -> dict[str, Any]:
    return {name: value for name, value in vars(sys.modules["__main__"]).items() if not name.startswith("__")}
