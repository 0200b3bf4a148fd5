"""Timeline of a run: when values were created, moved, first used and freed, and the bytes on each device.

A record belongs to a storage, as its history does, and ends with it.  Memory and time are bounded: of created, loaded
and moved values, the first and the last remain; of computed values, which are nearly all, only the first are recorded.
The bytes are sampled at intervals that double as the run goes on.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from .frames import Chain

if TYPE_CHECKING:
    from .histories import Node

__all__ = ["Sample", "Stay", "Step", "Timeline", "Use"]

#: Events that remain of each kind: the first, and the last.
_KEPT = {"created": (600, 600), "loaded": (300, 300), "moved": (600, 600), "computed": (2000, 0)}
_KEPT_STEPS = (200, 200)
_MAX_SAMPLES = 1024

_clock: Callable[[], float] = time.perf_counter  # a script may replace the function in its module


class Use(NamedTuple):
    """The first operation with a value as operand; ``event`` is its number."""

    event: int
    time: float
    chain: Chain


class Step(NamedTuple):
    """An optimizer step, and the number of the last event before it."""

    number: int
    event: int
    time: float


class Sample(NamedTuple):
    """Bytes by device after an event: of created, loaded and moved values, and of computed ones while recorded."""

    event: int
    time: float
    stored: dict[str, int]
    computed: dict[str, int] | None


class Stay(weakref.ref[Any]):
    """A value's stay on a device: a weak reference to its storage.

    Attributes:
        node: the event that began it.
        time: seconds since the timeline's start.
        end: when the storage was freed, and the number of the last event before; None if it was not.
        shape, dtype, size: of the tensor; ``size`` is in bytes, of the storage.
        by_module: whether a module move began it.
        use: its first use; None before.
        charged: the totals that contain ``size``, and the device.

    """

    __slots__ = ("by_module", "charged", "dtype", "end", "node", "shape", "size", "time", "use")

    node: Node
    time: float
    end: tuple[float, int] | None
    shape: Any
    dtype: Any
    size: int
    by_module: bool
    use: Use | None
    charged: tuple[dict[str, int], str]


class _Bounded:
    """A list of the first and the last entries, and the number of those between that were dropped."""

    def __init__(self, first: int, last: int) -> None:
        self._room = first
        self._first: list[Any] = []
        self._last: deque[Any] = deque(maxlen=last)
        self._added = 0

    def add(self, entry: Any) -> None:
        """Append an entry."""
        self._added += 1
        if self._room:
            self._room -= 1
            self._first.append(entry)
        else:
            self._last.append(entry)

    def withdraw(self, entry: Any) -> None:
        """Remove an entry if it is the last one."""
        entries = self._last or self._first
        if entries and entries[-1] is entry:
            entries.pop()
            self._added -= 1
            self._room += entries is self._first

    def __iter__(self) -> Iterator[Any]:
        return chain(self._first, self._last)

    @property
    def omitted(self) -> int:
        """Number of dropped entries."""
        return self._added - len(self._first) - len(self._last)


class Timeline:
    """Recorder of the stays of storages, of optimizer steps, and of the bytes on each device.

    Attributes:
        steps: the optimizer steps.
        samples: bytes on each device during the run.

    """

    def __init__(self) -> None:
        self.steps = _Bounded(*_KEPT_STEPS)
        self.samples: list[Sample] = []
        self._start = _clock()
        self._kept = {kind: _Bounded(*limits) for kind, limits in _KEPT.items()}
        self._alive: dict[int, Stay] = {}
        self._freed: deque[Stay] = deque()
        self._stored: dict[str, int] = {}
        self._computed: dict[str, int] = {}
        self._room = _KEPT["computed"][0]
        self._skipped = 0
        self._events_per_sample = self._until_sample = 1
        self._latest = 0
        self._last_stay: Stay | None = None

    def now(self) -> float:
        """Return the seconds since the start."""
        return _clock() - self._start

    def record(self, node: Node, tensor: Any, storage: Any) -> None:
        """Record the start of a stay; call it without function modes."""
        is_computed = node.kind == "computed"
        if is_computed and not self._room:
            self._skipped += 1
            self._note_uses(node)
            return
        if storage is None:
            return
        self._room -= is_computed
        now = _clock() - self._start
        self._settle()
        stay = Stay(storage, self._note_freed)
        stay.node, stay.time, stay.end, stay.use, stay.by_module = node, now, None, None, False
        stay.shape, stay.dtype = tensor.shape, tensor.dtype
        stay.size = 0 if tensor.is_meta else storage.nbytes()
        self._latest = index = node.index
        self._note_uses(node)
        self._alive[index] = self._last_stay = stay
        self._kept[node.kind].add(stay)
        self._charge(stay)

    def record_transfer(self, recorded: Node | None, node: Node, tensor: Any, storage: Any, by_module: bool) -> None:
        """Record a transfer.

        Args:
            recorded: the event of the operator that made the copy; the transfer takes its place.  None: it was not
                recorded.
            node: the transfer.
            tensor: the result.
            storage: its storage.
            by_module: whether a module was moved.

        """
        stay = None if recorded is None else self._alive.pop(recorded.index, None)
        if stay is None:
            self.record(node, tensor, storage)
            stay = self._alive.get(node.index)
        else:
            self._kept[stay.node.kind].withdraw(stay)
            self._kept[node.kind].add(stay)
            stay.node = node
            self._latest = node.index
            self._alive[node.index] = stay
            self._discharge(stay)
            self._charge(stay)
        if stay is not None:
            stay.by_module = by_module

    def correct_device(self, node: Node) -> None:
        """Account the bytes of a node to its corrected device."""
        stay = self._alive.get(node.index)
        if stay is not None:
            self._discharge(stay)
            self._charge(stay)

    def note_step(self, number: int) -> None:
        """Record an optimizer step."""
        self.steps.add(Step(number, self._latest, self.now()))

    def stays(self) -> list[Stay]:
        """Return the recorded stays, in the order of their events."""
        return sorted(chain(*self._kept.values()), key=lambda stay: stay.node.index)

    def stay_of(self, index: int) -> Stay | None:
        """Return the stay of a value that still exists, by the number of its event."""
        return self._alive.get(index)

    @property
    def omitted(self) -> int:
        """Number of events that were dropped."""
        return self._skipped + sum(kept.omitted for kept in self._kept.values())

    def _note_freed(self, stay: Any) -> None:
        stay.end = _clock() - self._start, self._latest
        self._freed.append(stay)  # the totals have one writer

    def _note_uses(self, node: Node) -> None:
        for parent in node.parents:
            if parent.kind != "computed" or self._room:
                source = self._alive.get(parent.index)
                if source is not None and source.use is None:
                    source.use = Use(node.index, _clock() - self._start, node.chain)

    def _charge(self, stay: Stay) -> None:
        sizes, device = self._computed if stay.node.kind == "computed" else self._stored, stay.node.device
        sizes[device] = sizes.get(device, 0) + stay.size
        stay.charged = sizes, device

    @staticmethod
    def _discharge(stay: Stay) -> None:
        sizes, device = stay.charged
        sizes[device] -= stay.size

    def _settle(self) -> None:
        """Account for the last event, whose device is now known, and for the storages that were freed since."""
        last = self._last_stay
        if last is not None:
            self._until_sample -= 1
            if not self._until_sample:
                self._sample(last.time)
        while self._freed:
            stay = self._freed.popleft()
            if self._alive.pop(stay.node.index, None) is not None:
                self._discharge(stay)

    def _sample(self, now: float) -> None:
        self.samples.append(Sample(self._latest, now, dict(self._stored), dict(self._computed) if self._room else None))
        if len(self.samples) == _MAX_SAMPLES:
            del self.samples[1::2]
            self._events_per_sample *= 2
        self._until_sample = self._events_per_sample

    def finish(self) -> None:
        """Account for the last event; call it once, at the end."""
        self._settle()
        self._last_stay = None
        self._sample(self.now())
