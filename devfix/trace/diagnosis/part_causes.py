"""Causes of a parameter or buffer on the wrong device: replaced, never moved, moved away, out of its module's sight."""

from __future__ import annotations

from devfix.trace.call_syntax import is_attribute, names_cpu
from devfix.trace.diagnosis.context import (
    Case,
    Cause,
    before,
    call_names,
    device_of_peer,
    events_of,
    last_move_away,
    made,
)
from devfix.trace.diagnosis.load_causes import loaded
from devfix.trace.names import quoted_move
from devfix.trace.story import ModuleHappening, Owner

__all__ = ["READERS"]


def _in_container(case: Case) -> Cause | None:
    if case.part is None or case.part.container is None:
        return None
    keeper, attribute, container = case.part.container
    return Cause(
        "DEV203",
        f"{case.name}, {made(case)}, is in the {container} `{attribute}` of `{keeper}`, where its module is not"
        f" registered, so moving `{keeper}` left it on {case.here}.",
    )


def _parameter_in_container(case: Case) -> Cause | None:
    """A parameter that no module has, and that is found in a container which an attribute holds."""
    names = call_names(case)
    if case.owner is not None or not any(name.kind == "parameter" for name in names):
        return None
    held = next((name.text for name in names if name.text.endswith("]") and is_attribute(name.text)), None)
    if held is None:
        return None
    return Cause(
        "DEV203",
        f"`{held}`, {made(case)}, is a parameter in a Python container, where it is not registered: it stayed on"
        f" {case.here}.",
    )


def _moved_away(case: Case) -> Cause | None:
    if case.part is None or case.born is None or case.born.kind != "moved":
        return None
    if len(case.culprit.history) > 1 and any(event.device == device_of_peer(case) for event in before(case)):
        return Cause("DEV701", f"{case.code}{case.at} moved {case.name} to {case.here}, and nothing brought it back.")
    return Cause("DEV501", f"{case.code}{case.at} moved {case.name} to {case.here}, while the rest is on {case.there}.")


def _loaded_part(case: Case) -> Cause | None:
    if case.part is None or case.born is None or case.born.kind != "loaded":
        return None
    return loaded(case)


def _replaced(case: Case) -> Cause | None:
    """Made, or put into its module, after the module had moved."""
    if case.part is None or case.born is None:
        return None
    move = last_move_away(case)
    if move is None:
        return None
    if case.born.index > move.index:
        return Cause(
            "DEV201",
            f"{case.name} was {made(case)}, after {quoted_move(move)} had moved {case.whole}, so it stayed on"
            f" {case.here}.",
        )
    attached = _attached_after(case.part, move)
    if attached is None:
        return None
    where = f" at {attached.chain[0]}" if attached.chain else ""
    return Cause(
        "DEV201",
        f"{case.name}, {made(case)}, became a part of `{attached.parent}`{where} after {quoted_move(move)}, so it"
        f" stayed on {case.here}.",
    )


def _attached_after(owner: Owner, move: ModuleHappening) -> ModuleHappening | None:
    attached = [event for event in events_of(owner) if event.kind == "attached" and event.index > move.index]
    return min(attached, key=lambda event: event.index, default=None)


def _never_moved(case: Case) -> Cause | None:
    if case.part is None:
        return None
    stayed = [event for event in events_of(case.part) if event.kind == "moved" and event.device == case.culprit.device]
    to_cpu = [event for event in stayed if event.chain and names_cpu(event.chain[0])]
    if to_cpu and not last_move_away(case):
        return Cause(
            "DEV501", f"{quoted_move(to_cpu[-1])} put {case.whole} with {case.name} on {case.here}, while the rest is"
            f" on {case.there}.",
        )  # fmt: skip
    if last_move_away(case):
        return None
    return Cause("DEV204", f"{case.whole} was never moved: {case.name}, {made(case)}, is still on {case.here}.")


READERS = (
    _in_container,
    _parameter_in_container,
    _moved_away,
    _loaded_part,
    _replaced,
    _never_moved,
)
