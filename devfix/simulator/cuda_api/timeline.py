"""Devices by index, streams and events; all work on a simulated device is synchronous."""

from __future__ import annotations

import time
from abc import ABCMeta
from typing import Any

import torch

from ..state import state
from ..tags import canonical

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "device_at",
    "device_index",
    "reset",
    "set_stream",
]


def device_index(device: Any) -> int:
    """Return the index of a device argument; None means the current device.

    Raises:
        ValueError: the device has another type than the simulated one.

    """
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
    """Return the device of an index, by default the current one."""
    tag = canonical(state.current if index is None else index)
    assert tag is not None
    return tag


class Stream:
    """A stream whose work completes synchronously, in program order."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = device_at(device_index(device))
        self.device_index = self.device.index
        self.device_type = 1
        self.stream_id = 0
        self.cuda_stream = 0
        self.priority = priority
        self._previous: Stream | None = None

    def synchronize(self) -> None:
        """Do nothing; all work is complete."""

    def query(self) -> bool:
        """Return True; all work is complete."""
        return True

    def is_capturing(self) -> bool:
        """Return whether a CUDA graph is being captured."""
        from .graphs import is_capturing

        return is_capturing()

    def wait_stream(self, stream: Any) -> None:
        """Do nothing; all work is complete."""

    def wait_event(self, event: Any) -> None:
        """Do nothing; all work is complete."""

    def record_event(self, event: Any = None) -> Any:
        """Record an event with the current time."""
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        self._previous = _current.get(self.device.index)
        _current[self.device.index] = self
        return self

    def __exit__(self, *_: Any) -> None:
        if self._previous is None:
            _current.pop(self.device.index, None)
        else:
            _current[self.device.index] = self._previous

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class ExternalStream(Stream):
    """A stream that another library made, by its handle."""

    def __init__(self, stream_ptr: int, device: Any = None, **_: Any) -> None:
        super().__init__(device)
        self.cuda_stream = stream_ptr


class Event:
    """An event with the time of its recording."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> None:
        self.enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        """Store the current time."""
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Do nothing; all work is complete."""

    def synchronize(self) -> None:
        """Do nothing; all work is complete."""

    def query(self) -> bool:
        """Return True; all work is complete."""
        return True

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds between two recorded events."""
        if self._time is None or end._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end._time - self._time) * 1000.0


_current: dict[int, Stream] = {}
_defaults: dict[int, Stream] = {}


def default_stream(device: Any = None) -> Stream:
    """Return the default stream of a device."""
    index = device_index(device)
    if index not in _defaults:
        _defaults[index] = Stream(index)
    return _defaults[index]


def current_stream(device: Any = None) -> Stream:
    """Return the current stream of a device."""
    index = device_index(device)
    return _current.get(index) or default_stream(index)


class StreamContext:
    """Context manager ``torch.cuda.stream(stream)``."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *problem: Any) -> None:
        if self.stream is not None:
            self.stream.__exit__(*problem)


def set_stream(stream: Stream) -> None:
    """Set the current stream of the stream's device."""
    _current[stream.device.index] = stream


def reset() -> None:
    """Drop all streams, for a new simulation."""
    _current.clear()
    _defaults.clear()


def _register() -> None:
    """Register the classes with two abstract base classes, which torch._dynamo requires before 2.6."""
    bases: Any = getattr(torch, "_streambase", None)
    for name, kind in (("_StreamBase", Stream), ("_EventBase", Event)):
        base = getattr(bases, name, None)
        if isinstance(base, ABCMeta):
            base.register(kind)


_register()
