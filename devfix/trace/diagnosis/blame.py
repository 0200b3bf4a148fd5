"""Find the misplaced value among the operands of a failed call, and the event that put it on its device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from devfix.trace.failure_trace import FailureTrace, Value, ValueEvent

__all__ = [
    "REQUIRES_CPU",
    "Misplacement",
    "computed_origin",
    "events_since",
    "find_misplaced",
    "is_in_module",
    "is_part",
    "origin_of",
]

#: Families of errors raised by operations that require a CPU tensor, independent of their other operands.
REQUIRES_CPU = frozenset({"numpy", "cpu-only", "pack", "pin", "rng-state", "split"})

#: Parameters that must be on the CPU, of operations that accept other operands on any device.
_CPU_ROLES = {"lengths", "tensor_indices_or_sections", "new_state", "lengths_"}


class Misplacement(NamedTuple):
    """The misplaced value, and an operand on the expected device; None if there is no such operand."""

    value: Value
    peer: Value | None


def find_misplaced(failure: FailureTrace) -> Misplacement | None:
    """Return the misplaced value of a device error; None if no operand is misplaced."""
    values = [value for value in failure.values if not _may_stay_on_cpu(value)]
    if failure.family in REQUIRES_CPU:
        away = [value for value in values if not value.on_cpu]
        return Misplacement(min(away, key=lambda value: value.role not in _CPU_ROLES), None) if away else None
    devices = list(dict.fromkeys(value.device for value in values))
    if len(devices) < 2:
        return _without_peer(failure, values)
    wrong = _wrong_device(failure, values, devices)
    misplaced = [value for value in values if value.device == wrong]
    peers = [value for value in values if value.device != wrong]
    return Misplacement(min(misplaced, key=_rank), min(peers, key=lambda value: (not value.names, is_part(value))))


def _may_stay_on_cpu(value: Value) -> bool:
    """Return whether it is an optimizer's step counter, which may be on the CPU with parameters on any device."""
    return any(name.kind == "state" and name.text.endswith("['step']") for name in value.names)


def _without_peer(failure: FailureTrace, values: Sequence[Value]) -> Misplacement | None:
    """Return the misplaced value if all operands are on one device, as for a process group of another device type."""
    on_cpu = [value for value in values if value.on_cpu]
    return Misplacement(min(on_cpu, key=_rank), None) if failure.family == "group" and on_cpu else None


def _wrong_device(failure: FailureTrace, values: Sequence[Value], devices: Sequence[str]) -> str:
    if "cpu" in devices:
        accelerated = [value for value in values if not value.on_cpu]
        on_cpu = [value for value in values if value.on_cpu]
        is_cpu_program = set(failure.parameter_counts) == {"cpu"}
        is_stray = is_cpu_program and _is_model_input(on_cpu) and not _is_model_input(accelerated)
        return accelerated[0].device if is_stray else "cpu"
    without_parts = [
        device for device in devices if not any(is_part(value) for value in values if value.device == device)
    ]
    if len(without_parts) == 1:  # the activation is moved to the module, not the module to the activation
        return without_parts[0]
    main = max(devices, key=lambda device: (failure.parameter_counts.get(device, 0), -devices.index(device)))
    return next(device for device in devices if device != main)


def _is_model_input(values: Iterable[Value]) -> bool:
    """Return whether the values derive from parameters and from other data on their device: a model computes there."""
    roots = [root for value in values for root in _roots(value.device_history())]
    return any(is_in_module(root) for root in roots) and not all(is_in_module(root) for root in roots)


def is_part(value: Value) -> bool:
    """Return whether the value is a parameter or buffer of a module."""
    return value.last is not None and is_in_module(value.last)


def is_in_module(event: ValueEvent) -> bool:
    """Return whether the result of an event is a parameter or buffer of a module."""
    if event.owner is not None:
        return event.owner.kind in ("parameter", "buffer")
    return any(name.kind in ("parameter", "buffer") for name in event.names)


def _rank(value: Value) -> tuple[bool, bool, bool]:
    """Return the sort key among the values on the wrong device: a weight precedes its bias.

    Zero-dimensional tensors come last, because most operations accept them on the CPU.
    """
    origin = origin_of(value)
    owner = value.owner or (origin.owner if origin else None)
    return not value.shape, origin is None, owner is not None and owner.attribute != "weight"


def origin_of(value: Value) -> ValueEvent | None:
    """Return the event that put a value on its device: the earliest one without predecessors on it; None if unknown.

    Of several, parts of a module precede attributes; then come the batch of a loader, events with a name, and the
    first event.
    """
    history = value.device_history()
    roots = _roots(history)
    from_loader = [event for event in history if event.from_loader]
    if from_loader and not any(is_in_module(root) for root in roots):
        return from_loader[-1]
    root = min(roots, key=_importance, default=None)
    if root is None or is_in_module(root) or root.copy is None or not root.copy.by_module:
        return root
    # the parameter itself has moved since; its copy stayed
    return next((event for event in history if root.index in event.predecessors), root)


def computed_origin(value: Value) -> ValueEvent | None:
    """Return the last event if it computed the value on its device; otherwise the origin."""
    return value.last if value.last is not None and value.last.kind == "computed" else origin_of(value)


def events_since(value: Value, origin: ValueEvent | None) -> tuple[ValueEvent, ...]:
    """Return the events that lead from the origin to the value, the oldest first."""
    found: list[ValueEvent] = [] if origin is None else [origin]
    for event in value.device_history():
        if event.kind != "moved" and any(known.index in event.predecessors for known in found):
            found.append(event)
    return tuple(found)


def _importance(root: ValueEvent) -> tuple[bool, bool, bool, int]:
    return not is_in_module(root), root.owner is None, not root.names, root.index


def _roots(events: Sequence[ValueEvent]) -> list[ValueEvent]:
    indexes = {event.index for event in events}
    return [event for event in events if event.kind == "moved" or indexes.isdisjoint(event.predecessors)]
