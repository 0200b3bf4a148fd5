"""Which of the values that met is out of place, and which event put it there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from devfix.trace.story import Happening, Story, Value

__all__ = ["NEED_CPU", "Accused", "accuse", "birth", "emergence", "is_in_module", "is_part", "line_from"]

#: Families of errors of operations that want the CPU, whatever else they are given.
NEED_CPU = frozenset({"numpy", "cpu-only", "pack", "pin", "rng-state", "split"})

#: The parameter that has to be on the CPU, where an operation takes others that need not be.
_CPU_ROLES = {"lengths", "tensor_indices_or_sections", "new_state", "lengths_"}


class Accused(NamedTuple):
    """The value that is out of place, and one that is on the device where it should be, or None."""

    culprit: Value
    peer: Value | None


def accuse(story: Story) -> Accused | None:
    """The culprit of a device error; None where none of the values is one."""
    values = [value for value in story.values if not _stays_on_cpu(value)]
    if story.family in NEED_CPU:
        away = [value for value in values if not value.on_cpu]
        return Accused(min(away, key=lambda value: value.role not in _CPU_ROLES), None) if away else None
    devices = list(dict.fromkeys(value.device for value in values))
    if len(devices) < 2:
        return _alone(story, values)
    wrong = _wrong_device(story, values, devices)
    culprits = [value for value in values if value.device == wrong]
    peers = [value for value in values if value.device != wrong]
    return Accused(min(culprits, key=_rank), min(peers, key=lambda value: (not value.names, is_part(value))))


def _stays_on_cpu(value: Value) -> bool:
    """Whether it is the step counter of an optimizer, which is on the CPU wherever the parameters are."""
    return any(name.kind == "state" and name.text.endswith("['step']") for name in value.names)


def _alone(story: Story, values: Sequence[Value]) -> Accused | None:
    """The culprit where no other value is to be seen, as for a process group that takes one kind of device."""
    on_cpu = [value for value in values if value.on_cpu]
    return Accused(min(on_cpu, key=_rank), None) if story.family == "group" and on_cpu else None


def _wrong_device(story: Story, values: Sequence[Value], devices: Sequence[str]) -> str:
    if "cpu" in devices:
        there = [value for value in values if not value.on_cpu]
        here = [value for value in values if value.on_cpu]
        return there[0].device if _all_live_on_cpu(story) and _works(here) and not _works(there) else "cpu"
    bare = [device for device in devices if not any(is_part(value) for value in values if value.device == device)]
    if len(bare) == 1:  # what was computed came to the module, and not the module to it
        return bare[0]
    home = max(devices, key=lambda device: (story.homes.get(device, 0), -devices.index(device)))
    return next(device for device in devices if device != home)


def _all_live_on_cpu(story: Story) -> bool:
    return set(story.homes) == {"cpu"}


def _works(values: Iterable[Value]) -> bool:
    """Whether the values show that a model computes on their device: its parts are there, and what it was given."""
    roots = [root for value in values for root in _roots(value.strand())]
    return any(is_in_module(root) for root in roots) and not all(is_in_module(root) for root in roots)


def is_part(value: Value) -> bool:
    """Whether a module keeps it as a parameter or a buffer."""
    return value.last is not None and is_in_module(value.last)


def is_in_module(event: Happening) -> bool:
    """Whether what an event left behind is a parameter or a buffer."""
    if event.owner is not None:
        return event.owner.kind in ("parameter", "buffer")
    return any(name.kind in ("parameter", "buffer") for name in event.names)


def _rank(value: Value) -> tuple[bool, bool, bool]:
    """Which of the values on the wrong device is named: the weight rather than its bias, the first rather than others.

    A number (a tensor without dimensions) on the CPU is allowed in most operations.
    """
    owner = value.owner
    born = birth(value)
    owner = owner or (born.owner if born else None)
    return not value.shape, born is None, owner is not None and owner.attribute != "weight"


def birth(value: Value) -> Happening | None:
    """The event that put a value where it is: the earliest one that stands there by itself; None where none is known.

    Of several, a part of a module rather than an attribute, then the batch of a loader, then what has a name, then the
    first.
    """
    strand = value.strand()
    roots = _roots(strand)
    loaded = [event for event in strand if event.loader]
    if loaded and not any(is_in_module(root) for root in roots):
        return loaded[-1]
    root = min(roots, key=_importance, default=None)
    if root is None or is_in_module(root) or root.copy is None or not root.copy.module:
        return root
    # the parameter that it was has moved since: what stayed is the copy
    return next((event for event in strand if root.index in event.before), root)


def emergence(value: Value) -> Happening | None:
    """The event that a value comes out of which is rightly where it was computed: its last one.

    One that was not computed has its birth.
    """
    return value.last if value.last is not None and value.last.kind == "computed" else birth(value)


def line_from(value: Value, born: Happening | None) -> tuple[Happening, ...]:
    """The events that lead from its birth to a value, the oldest first."""
    found: list[Happening] = [] if born is None else [born]
    for event in value.strand():
        if event.kind != "moved" and any(known.index in event.before for known in found):
            found.append(event)
    return tuple(found)


def _importance(root: Happening) -> tuple[bool, bool, bool, int]:
    return not is_in_module(root), root.owner is None, not root.names, root.index


def _roots(strand: Sequence[Happening]) -> list[Happening]:
    known = {event.index for event in strand}
    return [event for event in strand if event.kind == "moved" or known.isdisjoint(event.before)]
