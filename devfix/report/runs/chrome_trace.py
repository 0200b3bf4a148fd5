"""A timeline in the Trace Event Format, for https://ui.perfetto.dev and ``chrome://tracing``.

Each device is a process, and the values on it are the slices of its threads: values that exist at the same time are on
different threads, so that each arrow of a move begins and ends at the right slice.  Times are in microseconds.
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from devfix import __version__

if TYPE_CHECKING:
    from devfix.trace.failure_trace import Position
    from devfix.trace.timeline import Stay, Timeline
    from devfix.trace.tracing import Trace

__all__ = ["document", "dumps"]

_SCRIPT = 1  # the process of the whole script: steps and the failure
_MIN_MICROSECONDS = 0.001  # slices without a duration are not shown


def dumps(trace: Trace) -> str:
    """Return the document as ASCII text with a final newline.

    Raises:
        ValueError: the run has no timeline.

    """
    return json.dumps(document(trace), separators=(",", ":")) + "\n"


def document(trace: Trace) -> dict[str, Any]:
    """Return the trace as JSON values.

    Raises:
        ValueError: the run has no timeline.

    """
    timeline, experiment = trace.timeline, trace.experiment
    if timeline is None:
        raise ValueError("the run has no timeline")
    events = sorted(_events(trace, timeline), key=lambda event: event["ts"])
    return {
        "traceEvents": [*_names(trace, timeline), *events],
        "displayTimeUnit": "ms",
        "otherData": {
            "tool": f"devfix {__version__}",
            "script": experiment.project.script,
            "arguments": list(experiment.args),
            "device": experiment.device,
            "torch": trace.run.torch,
            "summary": trace.summary,
            "values": len(timeline.stays),
            "values_not_recorded": timeline.omitted,
        },
    }


def _names(trace: Trace, timeline: Timeline) -> Iterator[dict[str, Any]]:
    """Yield the names of processes and threads."""
    names = [trace.experiment.project.script, *timeline.devices]
    for process, name in enumerate(names, _SCRIPT):
        yield _metadata("process_name", process, 0, {"name": name})
        yield _metadata("process_sort_index", process, 0, {"sort_index": process})
    yield _metadata("thread_name", _SCRIPT, 0, {"name": "steps and failure"})
    lanes = _lanes(timeline)
    for process, device in enumerate(timeline.devices, _SCRIPT + 1):
        used = {lane for stay in timeline.stays if stay.device == device for lane in [lanes[stay.index]]}
        for lane in sorted(used):
            yield _metadata("thread_name", process, lane, {"name": f"{device} values"})
            yield _metadata("thread_sort_index", process, lane, {"sort_index": lane})


def _metadata(name: str, process: int, thread: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "ph": "M", "ts": 0, "pid": process, "tid": thread, "args": args}


def _events(trace: Trace, timeline: Timeline) -> Iterator[dict[str, Any]]:
    processes = {device: number for number, device in enumerate(timeline.devices, _SCRIPT + 1)}
    lanes, stays = _lanes(timeline), {stay.index: stay for stay in timeline.stays}
    for stay in timeline.stays:
        place = {"pid": processes[stay.device], "tid": lanes[stay.index]}
        yield _slice(stay, timeline.duration) | place
        source = stays.get(stay.predecessors[0]) if stay.kind == "moved" and stay.predecessors else None
        if source is not None:
            flow = {"name": stay.operation, "cat": "move", "id": stay.index, "ts": _microseconds(stay.time)}
            yield {**flow, "ph": "s", "pid": processes[source.device], "tid": lanes[source.index]}
            yield {**flow, "ph": "f", "bp": "e", **place}
        if stay.first_use is not None:
            args = {"value": stay.label, "where": _where(stay.first_use.stack)}
            yield _instant("first use", stay.first_use.time, "t", args) | place
    for step in timeline.steps:
        yield _instant(f"step {step.number}", step.time, "p", {"step": step.number}) | {"pid": _SCRIPT, "tid": 0}
    yield from _counters(timeline, processes)
    if timeline.failure is not None:
        failure = trace.device_error or trace.run.failure
        name = failure.type if failure is not None else "failure"
        args = {"message": trace.summary, "where": _where(trace.failure.frames if trace.failure else ())}
        yield _instant(name, timeline.failure.time, "g", args) | {"pid": _SCRIPT, "tid": 0, "cname": "terrible"}


def _counters(timeline: Timeline, processes: dict[str, int]) -> Iterator[dict[str, Any]]:
    for sample in timeline.samples:
        for device, process in processes.items():
            sizes = {"stored": sample.stored.get(device, 0)}
            if sample.computed is not None:
                sizes["computed"] = sample.computed.get(device, 0)
            yield {
                "name": f"bytes on {device}",
                "ph": "C",
                "ts": _microseconds(sample.time),
                "pid": process,
                "tid": 0,
                "args": sizes,
            }


def _slice(stay: Stay, duration: float) -> dict[str, Any]:
    start, end = _microseconds(stay.time), _microseconds(stay.end[0] if stay.end else duration)
    return {
        "name": stay.label,
        "cat": stay.kind,
        "ph": "X",
        "ts": start,
        "dur": round(max(end - start, _MIN_MICROSECONDS), 3),
        "args": {
            "kind": stay.kind,
            "operation": stay.operation,
            "device": stay.device,
            "dtype": stay.dtype,
            "shape": list(stay.shape),
            "bytes": stay.bytes,
            "where": _where(stay.stack),
            **({"package": str(stay.package)} if stay.package else {}),
            "exists_at_the_end": stay.end is None,
        },
    }


def _instant(name: str, time: float, scope: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "ph": "i", "ts": _microseconds(time), "s": scope, "args": args}


def _where(stack: Sequence[Position]) -> list[str]:
    return [f"{position}  {position.code}" for position in stack]


def _microseconds(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def _lanes(timeline: Timeline) -> dict[int, int]:
    """Return the thread of each stay: the first of its device that is free when it begins."""
    lanes: dict[int, int] = {}
    for device in timeline.devices:
        free: list[int] = []
        busy: list[tuple[float, int]] = []
        for stay in timeline.stays:
            if stay.device != device:
                continue
            start = _microseconds(stay.time)
            while busy and busy[0][0] <= start:
                heapq.heappush(free, heapq.heappop(busy)[1])
            lane = lanes[stay.index] = heapq.heappop(free) if free else len(busy) + 1
            end = _microseconds(stay.end[0] if stay.end else timeline.duration)
            heapq.heappush(busy, (max(end, start + _MIN_MICROSECONDS), lane))
    return lanes
