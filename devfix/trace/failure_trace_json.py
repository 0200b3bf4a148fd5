"""Read a :class:`FailureTrace` from the probe's JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from devfix.trace.failure_trace import (
    Copy,
    DeviceName,
    EnclosingModule,
    FailureTrace,
    ModuleEvent,
    Owner,
    Package,
    Position,
    Value,
    ValueEvent,
    ValueName,
)
from devfix.verify.records import Run

__all__ = ["read_failure_trace"]


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
        tuple(map(_position, data["frames"])),
        _package(data["foreign"]),
        data["operation"],
        data["function"],
        tuple(map(_value, data["values"])),
        data["homes"],
        tuple(DeviceName(each["frame"], each["text"], each["device"]) for each in data["devices"]),
    )


def _with_display_paths(data: Any, display_path: Callable[[str], str]) -> Any:
    """Return a copy of the data with every file path mapped."""
    if isinstance(data, Mapping):
        return {
            key: display_path(part) if key == "file" else _with_display_paths(part, display_path)
            for key, part in data.items()
        }
    return [_with_display_paths(part, display_path) for part in data] if isinstance(data, (list, tuple)) else data


def _position(data: Mapping[str, Any]) -> Position:
    span, text, cell = data["span"], data["text"] or "", data.get("place")
    line = data["file"], data["line"], data["function"], data["code"]
    return Position(*line, tuple(span) if span else None, text, cell)


def _package(data: Mapping[str, Any] | None) -> Package | None:
    return None if data is None else Package(data["package"], data["version"], _position(data))


def _names(data: list[Mapping[str, Any]]) -> tuple[ValueName, ...]:
    return tuple(ValueName(each["frame"], each["text"], each["exact"], each["kind"]) for each in data)


def _module_events(data: list[Mapping[str, Any]]) -> tuple[ModuleEvent, ...]:
    return tuple(
        ModuleEvent(
            each["kind"],
            each["device"],
            each["parent"],
            each["index"],
            tuple(map(_position, each["chain"])),
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
        tuple(map(_position, data["chain"])),
        _package(data["foreign"]),
        data["loader"],
        _copy(data["copy"]),
    )


def _copy(data: Mapping[str, Any] | None) -> Copy | None:
    if data is None:
        return None
    return Copy(data["device"], tuple(map(_position, data["chain"])), data["alive"], data["module"])


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
