"""The rule that names a cause, and the cause as one sentence.

Each reader below knows one kind of cause; the first that recognises its own is right.  ``DEV000`` stands for causes
that no rule describes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from devfix.trace.call_syntax import call_at, is_attribute, is_lost
from devfix.trace.diagnosis import part_causes
from devfix.trace.diagnosis.blame import NEED_CPU, Accused, is_in_module, is_part
from devfix.trace.diagnosis.context import (
    NO_RULE,
    Case,
    Cause,
    before,
    call_names,
    device_of_peer,
    last_move_away,
    made,
    others,
)
from devfix.trace.diagnosis.load_causes import loaded
from devfix.trace.names import expression, quoted_move
from devfix.trace.story import Happening, Package, Story

__all__ = ["NO_RULE", "Cause", "cause_of"]


def cause_of(story: Story, accused: Accused, born: Happening | None) -> Cause:
    """What put the culprit on the wrong device."""
    case = Case(story, accused.culprit, accused.peer, born)
    return next(found for reader in _READERS if (found := reader(case)) is not None)


# --- the operation is what matters ----------------------------------------------------------------------------------
def _needs_cpu(case: Case) -> Cause | None:
    if case.story.family not in NEED_CPU:
        return None
    since = f"{case.name}, {made(case)}, is on {case.here}"
    if case.story.family == "numpy":
        return Cause("DEV601", f"{since}, and NumPy reads the CPU's memory only: {case.story.where} needs a copy.")
    if case.story.family == "rng-state":
        return Cause("DEV301", f"{since}, and the state of a random number generator is a tensor of the CPU.")
    return Cause("DEV602", f"{since}, and `{case.story.function or case.story.operation}` takes it from the CPU only.")


def _between_accelerators(case: Case) -> Cause | None:
    """One half of a model gives it to the other, which is on another accelerator."""
    if case.peer is None or case.culprit.on_cpu or case.peer.on_cpu or case.part is not None:
        return None
    return Cause("DEV502", f"{case.name}, {made(case)}, is on {case.here}, and {others(case)} on {case.there}.")


# --- state of an optimizer ------------------------------------------------------------------------------------------
def _optimizer_state(case: Case) -> Cause | None:
    if not any(name.kind == "state" for name in case.culprit.names):
        return None
    moved = _move_of_parameters(case)
    later = f"; its parameters moved to {case.there} at {moved.position}" if moved and moved.position else ""
    return Cause("DEV401", f"The optimizer's state {case.name} was {made(case)}, on {case.here}{later}.")


def _move_of_parameters(case: Case) -> Happening | None:
    """The transfer of a parameter that the failed call was given, or comes from."""
    others = [value for value in case.story.values if value.device == device_of_peer(case)]
    moves = [event for value in others for event in value.history if event.kind == "moved" and is_in_module(event)]
    return moves[0] if moves else None


# --- other tensors --------------------------------------------------------------------------------------------------
def _dropped(case: Case) -> Cause | None:
    """A copy was made where it should be, and nothing kept it: a bare call, or a name that was bound again."""
    copies = [event.copy for event in case.line if event.copy and event.copy.chain and not event.copy.module]
    copy = next((each for each in copies if each.device == device_of_peer(case) and is_lost(each)), None)
    if copy is None:
        return None
    where = copy.chain[0]
    return Cause(
        "DEV103",
        f"`{expression(where)}` at {where} returned a copy that nothing keeps, so {case.name} stayed on {case.here}.",
    )


def _attribute(case: Case) -> Cause | None:
    if case.born is None or case.born.loader or case.born.package is not None:
        return None
    if case.owner is not None and case.owner.kind == "attribute":
        keeper, attribute = case.owner.type, case.owner.attribute
        moved = last_move_away(case)
        left = f", which {quoted_move(moved)} left where it was" if moved else ", which no module moves"
        return Cause("DEV202", f"{case.name} (`{attribute}` of `{keeper}`), {made(case)}, is a plain attribute{left}.")
    held = next((name.text for name in call_names(case) if is_attribute(name.text, of=("self", "cls"))), None)
    if case.born.kind == "created" and held is not None and _born_elsewhere(case):
        what = case.name if f"`{held}`" == case.name else f"{case.name} (`{held}`)"
        return Cause("DEV202", f"{what}, {made(case)}, is kept as an attribute that no module moves.")
    return None


def _born_elsewhere(case: Case) -> bool:
    born = case.born.position if case.born else None
    return born is not None and (born.file, born.function) != (case.story.where.file, case.story.where.function)


def _batch(case: Case) -> Cause | None:
    if case.born is None:
        if is_part(case.culprit) or not case.culprit.on_cpu:
            return None
        return Cause("DEV101", f"{case.name} came from outside of this process, as from a loader's worker, on the CPU.")
    if not case.born.loader or not case.culprit.on_cpu:
        return None
    line = next((each for each in reversed(case.born.chain) if each.text and each == case.born.position), None)
    at = f" at {line}" if line else case.at
    return Cause(
        "DEV101", f"{case.name} came from a data loader{at} on the CPU, and nothing moved it before {case.story.where}."
    )


def _copied_early(case: Case) -> Cause | None:
    """Computed from a parameter that has moved since."""
    if case.born is None or case.born.position is None or not any(_moved_with_module(each) for each in before(case)):
        return None
    return Cause(
        "DEV401" if _steps(case) else NO_RULE,
        f"{case.name} was {made(case)}, on {case.here}, and stayed there when what it was made from moved.",
    )


def _moved_with_module(event: Happening) -> bool:
    return event.copy is not None and event.copy.module


def _steps(case: Case) -> bool:
    """Whether the failing code is that of an optimizer."""
    return any(position.function == "step" for position in case.story.frames)


def _foreign(case: Case) -> Cause | None:
    """Made by an installed package, on the CPU."""
    package = case.born.package if case.born else None
    if package is None:
        return None
    kept = case.owner is not None and case.owner.kind == "attribute"
    made = f"{package} made {case.name} on {case.here} in {package.where}"
    return Cause("DEV202" if kept else NO_RULE, f"{made}, {_advice(case, package, kept)}.", package)


def _advice(case: Case, package: Package, kept: bool) -> str:
    """What the user can do about a tensor of a package."""
    call = f"{case.code}{case.at}" if case.born and case.born.position else "the call"
    if kept and case.owner is not None:
        return (
            f"a plain attribute of `{case.owner.type}` that moving the module leaves there: move"
            f" `{case.owner.attribute}` by itself after that, or pin or upgrade {package.name}"
        )
    if case.story.package is not None:
        return (
            f"and meets values on {case.there} in its own code, called at {case.story.where}: pin or upgrade"
            f" {package.name}, or give it values on {case.here}"
        )
    return f"called by {call}: move the result to {case.there} there, or pin or upgrade {package.name}"


def _sent(case: Case) -> Cause | None:
    """Moved where it is by the project."""
    if case.born is None or case.born.kind != "moved":
        return None
    return Cause(
        "DEV501", f"{case.code}{case.at} moved {case.name} to {case.here}, and {others(case)} on {case.there}."
    )


def _made_without_device(case: Case) -> Cause | None:
    if case.born is None or case.born.kind != "created" or case.born.position is None:
        return None
    call = call_at(case.born.position)
    told = next((each for each in call.keywords if each.arg == "device"), None) if call else None
    if told is None:
        if not case.culprit.on_cpu:
            return None
        return Cause(
            "DEV102", f"{case.name} was {made(case)} without a device, so on the CPU; {others(case)} on {case.there}."
        )
    literal = isinstance(told.value, ast.Constant)
    return Cause(
        "DEV501" if literal else NO_RULE,
        f"{case.name} was {made(case)}, where `{ast.unparse(told.value)}` is {case.here}; {others(case)} on"
        f" {case.there}.",
    )


def _unnamed(case: Case) -> Cause:
    known = f"was {made(case)}, on {case.here}" if case.born else f"is on {case.here}"
    return Cause(NO_RULE, f"{case.name} {known}, and {others(case)} on {case.there}.")


_READERS: tuple[Callable[[Case], Cause | None], ...] = (
    _needs_cpu,
    _between_accelerators,
    _optimizer_state,
    *part_causes.READERS,
    _dropped,
    _copied_early,
    _batch,
    _foreign,
    _attribute,
    loaded,
    _sent,
    _made_without_device,
    _unnamed,
)
