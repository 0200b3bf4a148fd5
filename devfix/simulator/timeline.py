"""Devices by index, streams and events: on a simulated device everything has already happened."""

from __future__ import annotations

import time
from abc import ABCMeta
from typing import Any

import torch

from .state import state
from .tags import canonical

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "device_at",
    "device_index",
    "forget",
    "set_stream",
]


def device_index(device: Any) -> int:
    if device is None:
        return state.current
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device) and device.type != state.kind:
        raise ValueError(f"Expected a {state.kind} device, but got: {device}")
    tag = canonical(device)
    assert tag is not None
    assert tag.index is not None
    return tag.index


def device_at(index: int | None = None) -> torch.device:
    tag = canonical(state.current if index is None else index)
    assert tag is not None
    return tag


class Stream:
    """A stream on which everything has already happened: work is done in program order."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = device_at(device_index(device))
        self.device_index = self.device.index
        self.device_type = 1
        self.stream_id = 0
        self.cuda_stream = 0
        self.priority = priority
        self._before: Stream | None = None

    def synchronize(self) -> None:
        """Return at once."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def is_capturing(self) -> bool:
        """Graphs are not modelled."""
        return False

    def wait_stream(self, stream: Any) -> None:
        """Return at once."""

    def wait_event(self, event: Any) -> None:
        """Return at once."""

    def record_event(self, event: Any = None) -> Any:
        """Record the present time."""
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        self._before = _current.get(self.device.index)
        _current[self.device.index] = self
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is None:
            _current.pop(self.device.index, None)
        else:
            _current[self.device.index] = self._before

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Event:
    """An event that holds the time at which it was recorded."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> None:
        self.enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        """Remember the present time."""
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Return at once."""

    def synchronize(self) -> None:
        """Return at once."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds between two recorded events."""
        if self._time is None or end._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end._time - self._time) * 1000.0


_current: dict[int, Stream] = {}
_defaults: dict[int, Stream] = {}


def default_stream(device: Any = None) -> Stream:
    index = device_index(device)
    if index not in _defaults:
        _defaults[index] = Stream(index)
    return _defaults[index]


def current_stream(device: Any = None) -> Stream:
    index = device_index(device)
    return _current.get(index) or default_stream(index)


class StreamContext:
    """``with torch.cuda.stream(stream)``."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *problem: Any) -> None:
        if self.stream is not None:
            self.stream.__exit__(*problem)


def set_stream(stream: Stream) -> None:
    """Make a stream the current one of its device."""
    _current[stream.device.index] = stream


def forget() -> None:
    """Drop all streams: a new simulation starts with fresh ones."""
    _current.clear()
    _defaults.clear()


def _register() -> None:
    """Before 2.6 torch._dynamo asks that what stands in torch.cuda derives from two abstract classes."""
    bases: Any = getattr(torch, "_streambase", None)
    for name, kind in (("_StreamBase", Stream), ("_EventBase", Event)):
        base = getattr(bases, name, None)
        if isinstance(base, ABCMeta):
            base.register(kind)


_register()
