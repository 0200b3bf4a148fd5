"""Read a :class:`FailureTrace` from the probe's JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from devfix.trace.failure_trace import (
    Copy,
    DefaultDevice,
    DeviceName,
    EnclosingModule,
    FailureTrace,
    Generator,
    ModuleEvent,
    Owner,
    Package,
    Position,
    Value,
    ValueEvent,
    ValueName,
)
from devfix.verify.records import Run

__all__ = ["read_failure_trace", "read_position"]


def read_failure_trace(run: Run, display_path: Callable[[str], str] | None = None) -> FailureTrace | None:
    """Return the failure of a traced run.

    Args:
        run: the run.
        display_path: maps a path within the project to the path in the result; default: identity.

    Returns:
        The failure; None if the run did not fail, or if no code of the project was on the stack.

    """
    data, failure = run.story, run.failure
    if data is None or failure is None:
        return None
    if display_path is not None:
        data = _with_display_paths(data, display_path)
    return FailureTrace(
        failure.type,
        failure.text,
        failure.family,
        tuple(map(read_position, data["frames"])),
        _package(data["foreign"]),
        data["operation"],
        data["function"],
        tuple(_as_passed(_value(each), read_position(data["where"])) for each in data["values"]),
        data["homes"],
        tuple(DeviceName(each["frame"], each["text"], each["device"]) for each in data["devices"]),
        _generator(data["generator"]),
        _default_device(data["default_device"]),
    )


def _with_display_paths(data: Any, display_path: Callable[[str], str]) -> Any:
    """Return a copy of the data with every file path mapped."""
    if isinstance(data, Mapping):
        return {
            key: display_path(part) if key == "file" else _with_display_paths(part, display_path)
            for key, part in data.items()
        }
    return [_with_display_paths(part, display_path) for part in data] if isinstance(data, (list, tuple)) else data


def read_position(data: Mapping[str, Any], display_path: Callable[[str], str] = str) -> Position:
    """Return a position; ``display_path`` maps its path."""
    span, text, cell = data["span"], data["text"] or "", data.get("place")
    line = display_path(data["file"]), data["line"], data["function"], data["code"]
    return Position(*line, tuple(span) if span else None, text, cell)


def _package(data: Mapping[str, Any] | None) -> Package | None:
    return None if data is None else Package(data["package"], data["version"], read_position(data))


def _names(data: list[Mapping[str, Any]]) -> tuple[ValueName, ...]:
    return tuple(ValueName(each["frame"], each["text"], each["exact"], each["kind"]) for each in data)


def _module_events(data: list[Mapping[str, Any]]) -> tuple[ModuleEvent, ...]:
    return tuple(
        ModuleEvent(
            each["kind"],
            each["device"],
            each["parent"],
            each["index"],
            tuple(map(read_position, each["chain"])),
            _package(each["foreign"]),
        )
        for each in data
    )


def _owner(data: Mapping[str, Any] | None) -> Owner | None:
    if data is None:
        return None
    enclosing = tuple(
        EnclosingModule(each["type"], each["path"], _module_events(each["events"])) for each in data["above"]
    )
    container = data["container"]
    return Owner(
        data["type"],
        data["attribute"],
        data["kind"],
        _module_events(data["events"]),
        enclosing,
        tuple(container) if container else None,
    )


def _event(data: Mapping[str, Any]) -> ValueEvent:
    return ValueEvent(
        data["kind"],
        data["operation"],
        data["device"],
        data["index"],
        tuple(data["from"]),
        _names(data["names"]),
        _owner(data["owner"]),
        tuple(map(read_position, data["chain"])),
        _package(data["foreign"]),
        data["loader"],
        _copy(data["copy"]),
    )


def _copy(data: Mapping[str, Any] | None) -> Copy | None:
    if data is None:
        return None
    return Copy(data["device"], tuple(map(read_position, data["chain"])), data["alive"], data["module"])


def _generator(data: Mapping[str, Any] | None) -> Generator | None:
    return None if data is None else Generator(_names(data["names"]), data["device"], _stack(data))


def _default_device(data: Mapping[str, Any] | None) -> DefaultDevice | None:
    return None if data is None else DefaultDevice(data["device"], data["index"], _stack(data))


def _stack(data: Mapping[str, Any]) -> tuple[Position, ...]:
    return tuple(map(read_position, data["chain"]))


def _as_passed(value: Value, where: Position) -> Value:
    """Return the value that the failing expression was given, if its function computed another one from it.

    ``pack_padded_sequence`` sorts the lengths before it fails, for example.
    """
    by_index = {event.index: event for event in value.history}
    while not value.names and value.last is not None and value.last.kind == "computed":
        predecessors = [by_index[index] for index in value.last.predecessors if index in by_index]
        if value.last.position != where or len(predecessors) != 1 or predecessors[0].device != value.device:
            break
        history = tuple(event for event in value.history if event.index <= predecessors[0].index)
        value = replace(value, names=predecessors[0].names, history=history)
    return value


def _value(data: Mapping[str, Any]) -> Value:
    return Value(
        data["role"],
        _names(data["names"]),
        tuple(data["shape"]),
        data["dtype"],
        data["device"],
        data["leaf"],
        tuple(map(_event, data["history"])),
        data["inside"],
    )
