"""Layout of a timeline for pages: bars in lanes, one lane for each device.

The horizontal axis has two scales, from 0 to 1: the order of the shown events, each with the same width, and time.
Vertical positions are in pixels, so that a page shows the chart at any width without a script.
"""

from __future__ import annotations

import heapq
import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from devfix.report.runs.device_map import sized
from devfix.trace.names import expression

if TYPE_CHECKING:
    from devfix.trace.failure_trace import Position
    from devfix.trace.timeline import Stay, Timeline

__all__ = ["Arrow", "Bar", "Chart", "Lane", "Mark", "Range", "lay_out"]

_MAX_BARS = 400
_MAX_ROWS = 40  # of a lane
_ROW, _HEADING, _CURVE, _GAP = 22, 22, 30, 14  # pixels
_AXIS = 20
_SAMPLES = 400  # of a curve

_Entry = TypeVar("_Entry")
_Point = tuple[int, int]  # number of an event, and 1 for what comes after it


@dataclass(frozen=True)
class Range:
    """A part of the axis by order and by time."""

    order: tuple[float, float]
    time: tuple[float, float]


@dataclass(frozen=True)
class Bar:
    """Values that began together at one line, on one device.

    Attributes:
        id: unique on the page.
        label: name or expression.
        device, kind: as in a stay.
        count: number of values.
        bytes: their size.
        type: dtype and shape of a single value.
        where: the line that began them; None outside of the project.
        begin, end: seconds; ``end`` is None if they existed at the end.
        first_use: the line of the first use and its time; None if there was none.
        is_misplaced: whether a value of the bar is the misplaced one.
        is_operand: whether it is an operand of the failed call.
        range: its part of the axis.
        top: pixels from the top of the chart.

    """

    id: str
    label: str
    device: str
    kind: str
    count: int
    bytes: int
    type: str
    where: Position | None
    begin: float
    end: float | None
    first_use: tuple[Position | None, float] | None
    is_misplaced: bool
    is_operand: bool
    range: Range
    top: int

    @property
    def size(self) -> str:
        """The bytes with their unit."""
        return sized(self.bytes)

    @property
    def from_text(self) -> str:
        """The begin with its unit."""
        return seconds(self.begin)

    @property
    def to_text(self) -> str:
        """The end with its unit, or ``end``."""
        return "end" if self.end is None else seconds(self.end)

    @property
    def use_text(self) -> str:
        """Line and time of the first use; empty if there was none."""
        if self.first_use is None:
            return ""
        position, time = self.first_use
        return f"{position}, {seconds(time)}" if position else seconds(time)

    @property
    def summary(self) -> str:
        """The bar in one line."""
        what = self.type if self.count == 1 else f"{self.count} values"
        where = f", {self.where}" if self.where else ""
        times = f"from {self.from_text} to {'the ' * (self.end is None)}{self.to_text}"
        return f"{self.label}: {what}, {self.size}, {self.kind} on {self.device}{where}, {times}"


@dataclass(frozen=True)
class Arrow:
    """A move between two bars, at one moment."""

    range: Range
    top: int
    bottom: int
    is_down: bool


@dataclass(frozen=True)
class Mark:
    """An optimizer step or the failure, at one moment."""

    text: str
    range: Range


@dataclass(frozen=True)
class Lane:
    """The bars of one device, under its heading and the curve of its bytes.

    Attributes:
        device: the device.
        peak: the most bytes of a sample.
        top, curve_top, rows_top, bottom: pixels.
        curves: points of an SVG path by order and by time, in a box of 1,000 by 30.
        bars: the bars.

    """

    device: str
    peak: int
    top: int
    curve_top: int
    rows_top: int
    bottom: int
    curves: tuple[str, str]
    bars: tuple[Bar, ...]

    @property
    def peak_text(self) -> str:
        """The peak with its unit."""
        return sized(self.peak)


@dataclass(frozen=True)
class Chart:
    """A timeline, laid out.

    Attributes:
        height: in pixels.
        lanes: the CPU, then the accelerators.
        arrows: the moves between shown bars.
        steps: the optimizer steps; only some if there are many.
        failure: the device error; None if there was none.
        duration: seconds from the first value to the end.
        hidden: number of recorded values without a bar.
        omitted: number of values that were not recorded.

    """

    height: int
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]
    steps: tuple[Mark, ...]
    failure: Mark | None
    duration: float
    hidden: int
    omitted: int

    @property
    def bars(self) -> tuple[Bar, ...]:
        """All bars, the oldest first."""
        return tuple(sorted((bar for lane in self.lanes for bar in lane.bars), key=lambda bar: bar.range.order))


def seconds(value: float) -> str:
    """Return a time with its unit: ``12.3 ms``, ``4.2 s``."""
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def lay_out(timeline: Timeline, misplaced: Iterable[int] = ()) -> Chart | None:
    """Return the chart of a timeline; None if it has no values.

    Args:
        timeline: the timeline.
        misplaced: numbers of the events that led to misplaced values.

    """
    return _Layout(timeline, frozenset(misplaced)).chart() if timeline.stays else None


class _Axis:
    """The two scales of the shown events."""

    def __init__(self, timeline: Timeline, points: Iterable[_Point]) -> None:
        self._points = sorted(set(points))
        self._start = timeline.stays[0].time
        self._length = max(timeline.duration - self._start, 1e-9)

    def order(self, point: _Point) -> float:
        """Return the position of an event by order."""
        return round(bisect_right(self._points, point) / (len(self._points) * 1.03 + 1), 5)  # the last events have room

    def time(self, seconds: float) -> float:
        """Return the position of a moment."""
        return round(min(max((seconds - self._start) / self._length, 0.0), 1.0), 5)


class _Layout:
    def __init__(self, timeline: Timeline, misplaced: frozenset[int]) -> None:
        self._timeline = timeline
        self._misplaced = misplaced
        self._operands = frozenset(timeline.failure.operands if timeline.failure else ())
        self._stays = {stay.index: stay for stay in timeline.stays}

    def chart(self) -> Chart:
        """Return the chart."""
        timeline = self._timeline
        groups = self._most_important(self._groups())
        steps = _thinned(timeline.steps, 60)
        shown = [stay for group in groups for stay in group]
        points: list[_Point] = [(stay.index, 0) for stay in shown]
        points += [(stay.end[1], 1) for stay in shown if stay.end is not None]
        points += [(step.index, 1) for step in steps]
        self._axis = axis = _Axis(timeline, points)
        lanes: list[Lane] = []
        top = _AXIS
        for device in timeline.devices:
            lane = self._lane(device, [group for group in groups if group[0].device == device], top)
            lanes.append(lane)
            top = lane.bottom + _GAP
        failure = timeline.failure
        return Chart(
            height=top,
            lanes=tuple(lanes),
            arrows=tuple(self._arrows(groups, lanes)),
            steps=tuple(
                Mark(str(step.number), _moment(axis.order((step.index, 1)), axis.time(step.time))) for step in steps
            ),
            failure=None if failure is None else Mark("failure", _moment(1.0, axis.time(failure.time))),
            duration=timeline.duration - timeline.stays[0].time,
            hidden=len(timeline.stays) - sum(len(bar) for bar in self._drawn(groups, lanes)),
            omitted=timeline.omitted,
        )

    def _groups(self) -> list[list[Stay]]:
        """Return the values to show; those that one expression began together are one group.

        Values that were computed are shown only if they have a name, were moved, or are operands of the failed call.
        """
        sources = {index for stay in self._timeline.stays if stay.kind == "moved" for index in stay.predecessors}
        shown = [
            stay
            for stay in self._timeline.stays
            if stay.kind != "computed" or stay.name or stay.index in sources or stay.index in self._special
        ]
        return [list(group) for _, group in groupby(shown, key=self._group_key)]

    @property
    def _special(self) -> frozenset[int]:
        return self._operands | self._misplaced

    def _group_key(self, stay: Stay) -> tuple[object, ...]:
        position = _anchor(stay)
        alone = stay.index if stay.index in self._special or position is None else 0
        line = position and (position.file, position.line, position.span)
        return stay.kind, stay.device, line, stay.by_module, stay.end is None, alone

    def _most_important(self, groups: list[list[Stay]]) -> list[list[Stay]]:
        def importance(group: list[Stay]) -> tuple[bool, bool, int]:
            special = any(stay.index in self._special for stay in group)
            return special, group[0].kind == "moved", sum(stay.bytes for stay in group)

        kept = sorted(groups, key=importance, reverse=True)[:_MAX_BARS]
        return sorted(kept, key=lambda group: group[0].index)

    def _lane(self, device: str, groups: Sequence[list[Stay]], top: int) -> Lane:
        rows_top = top + _HEADING + _CURVE + 4
        ranges = [self._range(group) for group in groups]
        rows = _packed([each.order for each in ranges])
        bars = [
            self._bar(group, range_, rows_top + row * _ROW)
            for group, range_, row in zip(groups, ranges, rows, strict=True)
            if row < _MAX_ROWS
        ]
        count = min(max(rows, default=-1) + 1, _MAX_ROWS)
        peak = max((_total(sample.stored, sample.computed, device) for sample in self._timeline.samples), default=0)
        curves = self._curve(device, peak)
        return Lane(device, peak, top, top + _HEADING, rows_top, rows_top + count * _ROW, curves, tuple(bars))

    def _range(self, group: Sequence[Stay]) -> Range:
        axis = self._axis
        begin, last = group[0], max(group, key=lambda stay: (stay.end is None, stay.end))
        order_end = 1.0 if last.end is None else axis.order((last.end[1], 1))
        time_end = 1.0 if last.end is None else axis.time(last.end[0])
        return Range((axis.order((begin.index, 0)), order_end), (axis.time(begin.time), time_end))

    def _bar(self, group: Sequence[Stay], range_: Range, top: int) -> Bar:
        first = group[0]
        use = min((stay.first_use for stay in group if stay.first_use), key=lambda each: each.index, default=None)
        ends = [stay.end[0] for stay in group if stay.end is not None]
        return Bar(
            id=f"value-{first.index}",
            label=_label(group),
            device=first.device,
            kind=first.kind,
            count=len(group),
            bytes=sum(stay.bytes for stay in group),
            type=f"{first.dtype} {list(first.shape)}",
            where=_anchor(first),
            begin=first.time,
            end=max(ends) if ends else None,
            first_use=None if use is None else (use.stack[0] if use.stack else None, use.time),
            is_misplaced=any(stay.index in self._misplaced for stay in group),
            is_operand=any(stay.index in self._operands for stay in group),
            range=range_,
            top=top,
        )

    def _drawn(self, groups: Sequence[list[Stay]], lanes: Sequence[Lane]) -> list[list[Stay]]:
        ids = {bar.id for lane in lanes for bar in lane.bars}
        return [group for group in groups if f"value-{group[0].index}" in ids]

    def _arrows(self, groups: Sequence[list[Stay]], lanes: Sequence[Lane]) -> Iterable[Arrow]:
        tops = {bar.id: bar.top for lane in lanes for bar in lane.bars}
        top_of = {stay.index: tops.get(f"value-{group[0].index}") for group in groups for stay in group}
        drawn: set[tuple[int, int]] = set()
        for group in groups:
            target = top_of[group[0].index]
            for stay in group if group[0].kind == "moved" else ():
                source = top_of.get(stay.predecessors[0]) if stay.predecessors else None
                if source is None or target is None or (source, group[0].index) in drawn:
                    continue
                drawn.add((source, group[0].index))
                axis = self._axis
                moment = _moment(axis.order((group[0].index, 0)), axis.time(group[0].time))
                low, high = sorted((source, target))
                yield Arrow(moment, low + _ROW // 2, high + _ROW // 2, is_down=target > source)

    def _curve(self, device: str, peak: int) -> tuple[str, str]:
        """Return the paths of the bytes on a device, by order and by time."""
        samples = _thinned(self._timeline.samples, _SAMPLES)
        levels = [_CURVE * (1 - _total(each.stored, each.computed, device) / max(peak, 1)) for each in samples]
        by_order = [self._axis.order((each.index, 0)) for each in samples]
        by_time = [self._axis.time(each.time) for each in samples]
        return _path(by_order, levels), _path(by_time, levels)


def _path(positions: Iterable[float], levels: Iterable[float]) -> str:
    steps = (f"H{position * 1000:g}V{level:.4g}" for position, level in zip(positions, levels, strict=True))
    return "".join([f"M0 {_CURVE}", *steps, f"H1000V{_CURVE}Z"])


def _total(stored: Mapping[str, int], computed: Mapping[str, int] | None, device: str) -> int:
    return stored.get(device, 0) + (computed or {}).get(device, 0)


def _moment(order: float, time: float) -> Range:
    return Range((order, order), (time, time))


def _thinned(entries: Sequence[_Entry], most: int) -> Sequence[_Entry]:
    return entries[:: -(-len(entries) // most)] if entries else entries


def _packed(ranges: Sequence[tuple[float, float]]) -> list[int]:
    """Return the row of each range, sorted by their starts: the first row that is free."""
    rows: list[int] = []
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    for start, end in ranges:
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        row = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, row))
        rows.append(row)
    return rows


def _anchor(stay: Stay) -> Position | None:
    """Return the line that began a stay; for a value that a constructor made, the call of the constructor."""
    outside = (position for position in stay.stack if position.function != "__init__")
    return next(outside, stay.stack[-1] if stay.stack else None)


def _common_start(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False))
    return "".join(letter for letter, _ in same)


def _label(group: Sequence[Stay]) -> str:
    """Return the name of a single value, else what the names have in common, else the expression."""
    if len(group) == 1:
        return group[0].label
    names = [stay.name for stay in group]
    if all(name is not None for name in names):
        common = re.match(r"(.*[\w\]])[.\[]", _common_start([f"{name}." for name in names]))
        if common:
            return common[1]
    position = _anchor(group[0])
    return expression(position) if position else group[0].operation
