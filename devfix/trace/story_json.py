"""A story out of the JSON in which the probe tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from devfix.trace.story import (
    Above,
    CallName,
    Copy,
    DeviceName,
    Happening,
    ModuleHappening,
    Owner,
    Package,
    Position,
    Story,
    Value,
)
from devfix.verify.records import Run

__all__ = ["read_story"]


def read_story(run: Run, shown: Callable[[str], str] | None = None) -> Story | None:
    """The story of a run; None if it did not fail, or failed where no code of the project was on the stack.

    Args:
        run: the run.
        shown: how files are written; default: by their path within the project.

    """
    told, failure = run.story, run.failure
    if told is None or failure is None:
        return None
    if shown is not None:
        told = _renamed(told, shown)
    return Story(
        failure.type,
        failure.text,
        failure.family,
        tuple(map(_position, told["frames"])),
        _package(told["foreign"]),
        told["operation"],
        told["function"],
        tuple(map(_value, told["values"])),
        told["homes"],
        tuple(DeviceName(each["frame"], each["text"], each["device"]) for each in told["devices"]),
    )


def _renamed(told: Any, shown: Callable[[str], str]) -> Any:
    """The same, with other names of files."""
    if isinstance(told, Mapping):
        return {key: shown(part) if key == "file" else _renamed(part, shown) for key, part in told.items()}
    return [_renamed(part, shown) for part in told] if isinstance(told, (list, tuple)) else told


def _position(told: Mapping[str, Any]) -> Position:
    span, text, place = told["span"], told["text"] or "", told.get("place")
    where = told["file"], told["line"], told["function"], told["code"]
    return Position(*where, tuple(span) if span else None, text, place)


def _package(told: Mapping[str, Any] | None) -> Package | None:
    return None if told is None else Package(told["package"], told["version"], _position(told))


def _names(told: list[Mapping[str, Any]]) -> tuple[CallName, ...]:
    return tuple(CallName(each["frame"], each["text"], each["exact"], each["kind"]) for each in told)


def _module_events(told: list[Mapping[str, Any]]) -> tuple[ModuleHappening, ...]:
    return tuple(
        ModuleHappening(
            each["kind"],
            each["device"],
            each["parent"],
            each["index"],
            tuple(map(_position, each["chain"])),
            _package(each["foreign"]),
        )
        for each in told
    )


def _owner(told: Mapping[str, Any] | None) -> Owner | None:
    if told is None:
        return None
    above = tuple(Above(each["type"], each["path"], _module_events(each["events"])) for each in told["above"])
    container = told["container"]
    return Owner(
        told["type"],
        told["attribute"],
        told["kind"],
        _module_events(told["events"]),
        above,
        tuple(container) if container else None,
    )


def _happening(told: Mapping[str, Any]) -> Happening:
    return Happening(
        told["kind"],
        told["operation"],
        told["device"],
        told["index"],
        tuple(told["from"]),
        _names(told["names"]),
        _owner(told["owner"]),
        tuple(map(_position, told["chain"])),
        _package(told["foreign"]),
        told["loader"],
        _copy(told["copy"]),
    )


def _copy(told: Mapping[str, Any] | None) -> Copy | None:
    return (
        None
        if told is None
        else Copy(told["device"], tuple(map(_position, told["chain"])), told["alive"], told["module"])
    )


def _value(told: Mapping[str, Any]) -> Value:
    return Value(
        told["role"],
        _names(told["names"]),
        tuple(told["shape"]),
        told["dtype"],
        told["device"],
        told["leaf"],
        tuple(map(_happening, told["history"])),
        told["inside"],
    )
