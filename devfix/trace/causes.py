"""The rule that names a cause, and the cause as one sentence.

Each reader below knows one kind of cause; the first that recognises its own is right.  ``DEV000`` stands for causes
that no rule describes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from devfix.trace.culprits import NEED_CPU, Accused, is_in_module, is_part, line_from
from devfix.trace.story import CallName, Happening, ModuleHappening, Owner, Package, Story, Value
from devfix.trace.syntax import call_at, is_attribute, is_lost, names_cpu, takes_map_location
from devfix.trace.wording import expression, name_of, place, quoted_move

__all__ = ["NO_RULE", "Cause", "cause_of"]

NO_RULE = "DEV000"


class Cause(NamedTuple):
    """A rule's code, a sentence, and the installed package that is at fault, if one is."""

    rule: str
    sentence: str
    package: Package | None = None


@dataclass(frozen=True)
class _Case:
    story: Story
    culprit: Value
    peer: Value | None
    born: Happening | None

    @cached_property
    def line(self) -> tuple[Happening, ...]:
        """The events from its birth on."""
        return line_from(self.culprit, self.born)

    @property
    def name(self) -> str:
        return f"`{name_of(self.culprit, self.line)}`"

    @property
    def here(self) -> str:
        return place(self.culprit.device)

    @property
    def at(self) -> str:
        """Where it was born, as the end of a phrase."""
        return f" at {self.born.position}" if self.born and self.born.position else ""

    @property
    def there(self) -> str:
        """Where it should be."""
        return place(self.peer.device) if self.peer else "the CPU"

    @property
    def code(self) -> str:
        return f"`{expression(self.born.position)}`" if self.born and self.born.position else "code outside the project"

    @cached_property
    def owner(self) -> Owner | None:
        """The module that keeps it, or what it was made from."""
        return next((event.owner for event in reversed(self.line) if event.owner), self.culprit.owner)

    @property
    def part(self) -> Owner | None:
        """The module whose parameter or buffer it is."""
        return self.owner if self.owner and self.owner.kind != "attribute" else None

    @property
    def whole(self) -> str:
        """The outermost module that it is a part of."""
        assert self.owner is not None
        return f"`{self.owner.above[-1].type if self.owner.above else self.owner.type}`"


def cause_of(story: Story, accused: Accused, born: Happening | None) -> Cause:
    """What put the culprit on the wrong device."""
    case = _Case(story, accused.culprit, accused.peer, born)
    return next(found for reader in _READERS if (found := reader(case)) is not None)


# --- the operation is what matters ----------------------------------------------------------------------------------
def _needs_cpu(case: _Case) -> Cause | None:
    if case.story.family not in NEED_CPU:
        return None
    since = f"{case.name}, {_made(case)}, is on {case.here}"
    if case.story.family == "numpy":
        return Cause("DEV601", f"{since}, and NumPy reads the CPU's memory only: {case.story.where} needs a copy.")
    if case.story.family == "rng-state":
        return Cause("DEV301", f"{since}, and the state of a random number generator is a tensor of the CPU.")
    return Cause("DEV602", f"{since}, and `{case.story.function or case.story.operation}` takes it from the CPU only.")


def _made(case: _Case) -> str:
    """How it came to be: "made at train.py:3 by `torch.zeros(3)`"."""
    if case.born is None:
        return "of unknown origin"
    verb = {"loaded": "loaded", "computed": "computed", "moved": "moved there"}.get(case.born.kind, "made")
    return f"{verb}{case.at} by {case.code}" if case.born.position else verb


def _between_accelerators(case: _Case) -> Cause | None:
    """One half of a model gives it to the other, which is on another accelerator."""
    if case.peer is None or case.culprit.on_cpu or case.peer.on_cpu or case.part is not None:
        return None
    return Cause("DEV502", f"{case.name}, {_made(case)}, is on {case.here}, and {_others(case)} on {case.there}.")


# --- state of an optimizer ------------------------------------------------------------------------------------------
def _optimizer_state(case: _Case) -> Cause | None:
    if not any(name.kind == "state" for name in case.culprit.names):
        return None
    moved = _move_of_parameters(case)
    later = f"; its parameters moved to {case.there} at {moved.position}" if moved and moved.position else ""
    return Cause("DEV401", f"The optimizer's state {case.name} was {_made(case)}, on {case.here}{later}.")


def _move_of_parameters(case: _Case) -> Happening | None:
    """The transfer of a parameter that the failed call was given, or comes from."""
    others = [value for value in case.story.values if value.device == _device_of_peer(case)]
    moves = [event for value in others for event in value.history if event.kind == "moved" and is_in_module(event)]
    return moves[0] if moves else None


# --- parts of modules -----------------------------------------------------------------------------------------------
def _in_container(case: _Case) -> Cause | None:
    if case.part is None or case.part.container is None:
        return None
    keeper, attribute, container = case.part.container
    return Cause(
        "DEV203",
        f"{case.name}, {_made(case)}, is in the {container} `{attribute}` of `{keeper}`, where its module is not"
        f" registered, so moving `{keeper}` left it on {case.here}.",
    )


def _parameter_in_container(case: _Case) -> Cause | None:
    """A parameter that no module has, and that is found in a container which an attribute holds."""
    names = _call_names(case)
    if case.owner is not None or not any(name.kind == "parameter" for name in names):
        return None
    held = next((name.text for name in names if name.text.endswith("]") and is_attribute(name.text)), None)
    if held is None:
        return None
    return Cause(
        "DEV203",
        f"`{held}`, {_made(case)}, is a parameter in a Python container, where it is not registered: it stayed on"
        f" {case.here}.",
    )


def _moved_away(case: _Case) -> Cause | None:
    if case.part is None or case.born is None or case.born.kind != "moved":
        return None
    if len(case.culprit.history) > 1 and any(event.device == _device_of_peer(case) for event in _before(case)):
        return Cause("DEV701", f"{case.code}{case.at} moved {case.name} to {case.here}, and nothing brought it back.")
    return Cause("DEV501", f"{case.code}{case.at} moved {case.name} to {case.here}, while the rest is on {case.there}.")


def _before(case: _Case) -> list[Happening]:
    """What happened to it before its birth where it is."""
    assert case.born is not None
    by_index = {event.index: event for event in case.culprit.history}
    return [by_index[index] for index in case.born.before if index in by_index]


def _device_of_peer(case: _Case) -> str:
    return case.peer.device if case.peer else ""


def _loaded_part(case: _Case) -> Cause | None:
    if case.part is None or case.born is None or case.born.kind != "loaded":
        return None
    return _loaded(case)


def _replaced(case: _Case) -> Cause | None:
    """Made, or put into its module, after the module had moved."""
    if case.part is None or case.born is None:
        return None
    move = _last_move_away(case)
    if move is None:
        return None
    if case.born.index > move.index:
        return Cause(
            "DEV201",
            f"{case.name} was {_made(case)}, after {quoted_move(move)} had moved {case.whole}, so it stayed on"
            f" {case.here}.",
        )
    attached = _attached_after(case.part, move)
    if attached is None:
        return None
    where = f" at {attached.chain[0]}" if attached.chain else ""
    return Cause(
        "DEV201",
        f"{case.name}, {_made(case)}, became a part of `{attached.parent}`{where} after {quoted_move(move)}, so it"
        f" stayed on {case.here}.",
    )


def _events(owner: Owner) -> list[ModuleHappening]:
    return [event for events in (owner.events, *(each.events for each in owner.above)) for event in events]


def _last_move_away(case: _Case) -> ModuleHappening | None:
    """The last move of it, or of what it is a part of now, to another device than the one it is on."""
    assert case.owner is not None
    moves = [event for event in _events(case.owner) if event.kind == "moved" and event.device != case.culprit.device]
    return max(moves, key=lambda event: event.index, default=None)


def _attached_after(owner: Owner, move: ModuleHappening) -> ModuleHappening | None:
    attached = [event for event in _events(owner) if event.kind == "attached" and event.index > move.index]
    return min(attached, key=lambda event: event.index, default=None)


def _never_moved(case: _Case) -> Cause | None:
    if case.part is None:
        return None
    stayed = [event for event in _events(case.part) if event.kind == "moved" and event.device == case.culprit.device]
    to_cpu = [event for event in stayed if event.chain and names_cpu(event.chain[0])]
    if to_cpu and not _last_move_away(case):
        return Cause(
            "DEV501", f"{quoted_move(to_cpu[-1])} put {case.whole} with {case.name} on {case.here}, while the rest is"
            f" on {case.there}.",
        )  # fmt: skip
    if _last_move_away(case):
        return None
    return Cause("DEV204", f"{case.whole} was never moved: {case.name}, {_made(case)}, is still on {case.here}.")


# --- other tensors --------------------------------------------------------------------------------------------------
def _dropped(case: _Case) -> Cause | None:
    """A copy was made where it should be, and nothing kept it: a bare call, or a name that was bound again."""
    copies = [event.copy for event in case.line if event.copy and event.copy.chain and not event.copy.module]
    copy = next((each for each in copies if each.device == _device_of_peer(case) and is_lost(each)), None)
    if copy is None:
        return None
    where = copy.chain[0]
    return Cause(
        "DEV103",
        f"`{expression(where)}` at {where} returned a copy that nothing keeps, so {case.name} stayed on {case.here}.",
    )


def _attribute(case: _Case) -> Cause | None:
    if case.born is None or case.born.loader or case.born.package is not None:
        return None
    if case.owner is not None and case.owner.kind == "attribute":
        keeper, attribute = case.owner.type, case.owner.attribute
        moved = _last_move_away(case)
        left = f", which {quoted_move(moved)} left where it was" if moved else ", which no module moves"
        return Cause("DEV202", f"{case.name} (`{attribute}` of `{keeper}`), {_made(case)}, is a plain attribute{left}.")
    held = next((name.text for name in _call_names(case) if is_attribute(name.text, of=("self", "cls"))), None)
    if case.born.kind == "created" and held is not None and _born_elsewhere(case):
        what = case.name if f"`{held}`" == case.name else f"{case.name} (`{held}`)"
        return Cause("DEV202", f"{what}, {_made(case)}, is kept as an attribute that no module moves.")
    return None


def _call_names(case: _Case) -> list[CallName]:
    """All names of it and of what it comes from, its own first."""
    return [*case.culprit.names, *(name for event in reversed(case.line) for name in event.names)]


def _born_elsewhere(case: _Case) -> bool:
    born = case.born.position if case.born else None
    return born is not None and (born.file, born.function) != (case.story.where.file, case.story.where.function)


def _batch(case: _Case) -> Cause | None:
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


def _loaded(case: _Case) -> Cause | None:
    if case.born is None or case.born.kind != "loaded":
        return None
    mapped = takes_map_location(call_at(case.born.position))
    how = "with a map_location" if mapped else "without map_location"
    return Cause(
        "DEV302" if mapped else "DEV301",
        f"{case.name} was {_made(case)} {how}, which put it on {case.here}, while {case.there} is where the rest is.",
    )


def _copied_early(case: _Case) -> Cause | None:
    """Computed from a parameter that has moved since."""
    if case.born is None or case.born.position is None or not any(_moved_with_module(each) for each in _before(case)):
        return None
    return Cause(
        "DEV401" if _steps(case) else NO_RULE,
        f"{case.name} was {_made(case)}, on {case.here}, and stayed there when what it was made from moved.",
    )


def _moved_with_module(event: Happening) -> bool:
    return event.copy is not None and event.copy.module


def _steps(case: _Case) -> bool:
    """Whether the failing code is that of an optimizer."""
    return any(position.function == "step" for position in case.story.frames)


def _foreign(case: _Case) -> Cause | None:
    """Made by an installed package, on the CPU."""
    package = case.born.package if case.born else None
    if package is None:
        return None
    kept = case.owner is not None and case.owner.kind == "attribute"
    made = f"{package} made {case.name} on {case.here} in {package.where}"
    return Cause("DEV202" if kept else NO_RULE, f"{made}, {_advice(case, package, kept)}.", package)


def _advice(case: _Case, package: Package, kept: bool) -> str:
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


def _sent(case: _Case) -> Cause | None:
    """Moved where it is by the project."""
    if case.born is None or case.born.kind != "moved":
        return None
    return Cause(
        "DEV501", f"{case.code}{case.at} moved {case.name} to {case.here}, and {_others(case)} on {case.there}."
    )


def _others(case: _Case) -> str:
    return f"`{name_of(case.peer)}` is" if case.peer else "it is needed"


def _made_without_device(case: _Case) -> Cause | None:
    if case.born is None or case.born.kind != "created" or case.born.position is None:
        return None
    call = call_at(case.born.position)
    told = next((each for each in call.keywords if each.arg == "device"), None) if call else None
    if told is None:
        if not case.culprit.on_cpu:
            return None
        return Cause(
            "DEV102", f"{case.name} was {_made(case)} without a device, so on the CPU; {_others(case)} on {case.there}."
        )
    literal = isinstance(told.value, ast.Constant)
    return Cause(
        "DEV501" if literal else NO_RULE,
        f"{case.name} was {_made(case)}, where `{ast.unparse(told.value)}` is {case.here}; {_others(case)} on"
        f" {case.there}.",
    )


def _unnamed(case: _Case) -> Cause:
    known = f"was {_made(case)}, on {case.here}" if case.born else f"is on {case.here}"
    return Cause(NO_RULE, f"{case.name} {known}, and {_others(case)} on {case.there}.")


_READERS: tuple[Callable[[_Case], Cause | None], ...] = (
    _needs_cpu,
    _between_accelerators,
    _optimizer_state,
    _in_container,
    _parameter_in_container,
    _moved_away,
    _loaded_part,
    _replaced,
    _never_moved,
    _dropped,
    _copied_early,
    _batch,
    _foreign,
    _attribute,
    _loaded,
    _sent,
    _made_without_device,
    _unnamed,
)
