"""Causes of a parameter or buffer on the wrong device: replaced, never moved, moved away, or not registered."""

from __future__ import annotations

from devfix.trace.call_syntax import is_attribute, names_cpu
from devfix.trace.diagnosis.context import (
    Cause,
    Context,
    all_names,
    last_move_away,
    origin_clause,
    peer_device,
    preceding_events,
)
from devfix.trace.diagnosis.load_causes import detect_load
from devfix.trace.failure_trace import ModuleEvent, Owner
from devfix.trace.names import quoted_move

__all__ = ["DETECTORS"]


def _module_in_container(context: Context) -> Cause | None:
    if context.registered_in is None or context.registered_in.container is None:
        return None
    holder, attribute, container = context.registered_in.container
    return Cause(
        "module-in-container",
        f"{context.name}, {origin_clause(context)}, is in the {container} `{attribute}` of `{holder}`, which does not"
        f" register its modules, so moving `{holder}` left it on {context.device}.",
    )


def _parameter_in_container(context: Context) -> Cause | None:
    """Detect a parameter that no module registers, in a container that is an attribute."""
    names = all_names(context)
    if context.owner is not None or not any(name.kind == "parameter" for name in names):
        return None
    item = next((name.text for name in names if name.text.endswith("]") and is_attribute(name.text)), None)
    if item is None:
        return None
    return Cause(
        "parameter-in-container",
        f"`{item}`, {origin_clause(context)}, is a parameter in a Python container, which does not register it: it"
        f" stayed on {context.device}.",
    )


def _moved_away(context: Context) -> Cause | None:
    if context.registered_in is None or context.origin is None or context.origin.kind != "moved":
        return None
    moved = f"{context.origin_code}{context.at_origin} moved {context.name} to {context.device}"
    was_expected = any(event.device == peer_device(context) for event in preceding_events(context))
    if len(context.value.history) > 1 and was_expected:
        return Cause("not-moved-back", f"{moved}, and nothing moved it back.")
    return Cause("moved-to-other-device", f"{moved}, while the other operands are on {context.expected_device}.")


def _loaded_part(context: Context) -> Cause | None:
    if context.registered_in is None or context.origin is None or context.origin.kind != "loaded":
        return None
    return detect_load(context)


def _replaced(context: Context) -> Cause | None:
    """Detect a part that was created, or attached to its module, after the module's move."""
    if context.registered_in is None or context.origin is None:
        return None
    move = last_move_away(context)
    if move is None:
        return None
    if context.origin.index > move.index:
        return Cause(
            "created-after-move",
            f"{context.name} was {origin_clause(context)}, after {quoted_move(move)} had moved {context.root_module},"
            f" so it stayed on {context.device}.",
        )
    attached = _attached_after(context.registered_in, move)
    if attached is None:
        return None
    where = f" at {attached.stack[0]}" if attached.stack else ""
    return Cause(
        "attached-after-move",
        f"{context.name}, {origin_clause(context)}, became a part of `{attached.parent}`{where} after"
        f" {quoted_move(move)}, so it stayed on {context.device}.",
    )


def _attached_after(owner: Owner, move: ModuleEvent) -> ModuleEvent | None:
    attached = [event for event in owner.all_events if event.kind == "attached" and event.index > move.index]
    return min(attached, key=lambda event: event.index, default=None)


def _never_moved(context: Context) -> Cause | None:
    owner = context.registered_in
    if owner is None:
        return None
    moves = [event for event in owner.all_events if event.kind == "moved" and event.device == context.value.device]
    to_cpu = [event for event in moves if event.stack and names_cpu(event.stack[0])]
    if to_cpu and not last_move_away(context):
        return Cause(
            "moved-to-other-device",
            f"{quoted_move(to_cpu[-1])} moved {context.root_module} with {context.name} to {context.device}, while the"
            f" other operands are on {context.expected_device}.",
        )
    if last_move_away(context):
        return None
    return Cause(
        "module-never-moved",
        f"{context.root_module} was never moved: {context.name}, {origin_clause(context)}, is still on"
        f" {context.device}.",
    )


#: The detectors, in order: the first cause found is the cause.
DETECTORS = (
    _module_in_container,
    _parameter_in_container,
    _moved_away,
    _loaded_part,
    _replaced,
    _never_moved,
)
