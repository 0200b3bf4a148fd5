"""What is asked of a failure to find its cause: names, places, moves of modules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from devfix.trace.diagnosis.blame import line_from
from devfix.trace.names import expression, name_of, place
from devfix.trace.story import CallName, Happening, ModuleHappening, Owner, Package, Story, Value

__all__ = [
    "NO_RULE",
    "Case",
    "Cause",
    "before",
    "call_names",
    "device_of_peer",
    "events_of",
    "last_move_away",
    "made",
    "others",
]

#: The code of a cause that no rule describes.
NO_RULE = "DEV000"


class Cause(NamedTuple):
    """A rule's code, a sentence, and the installed package that is at fault, if one is."""

    rule: str
    sentence: str
    package: Package | None = None


@dataclass(frozen=True)
class Case:
    """A culprit, a value that it met (None where an operation needs the CPU), and its birth, if known."""

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
        if self.peer is not None:
            return place(self.peer.device)
        return "the accelerator" if self.culprit.on_cpu else "the CPU"

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


def made(case: Case) -> str:
    """How it came to be: "made at train.py:3 by `torch.zeros(3)`"."""
    if case.born is None:
        return "of unknown origin"
    verb = {"loaded": "loaded", "computed": "computed", "moved": "moved there"}.get(case.born.kind, "made")
    return f"{verb}{case.at} by {case.code}" if case.born.position else verb


def others(case: Case) -> str:
    return f"`{name_of(case.peer)}` is" if case.peer else "it is needed"


def before(case: Case) -> list[Happening]:
    """What happened to it before its birth where it is."""
    assert case.born is not None
    by_index = {event.index: event for event in case.culprit.history}
    return [by_index[index] for index in case.born.before if index in by_index]


def device_of_peer(case: Case) -> str:
    return case.peer.device if case.peer else ""


def events_of(owner: Owner) -> list[ModuleHappening]:
    return [event for events in (owner.events, *(each.events for each in owner.above)) for event in events]


def last_move_away(case: Case) -> ModuleHappening | None:
    """The last move of it, or of what it is a part of now, to another device than the one it is on."""
    assert case.owner is not None
    moves = [event for event in events_of(case.owner) if event.kind == "moved" and event.device != case.culprit.device]
    return max(moves, key=lambda event: event.index, default=None)


def call_names(case: Case) -> list[CallName]:
    """All names of it and of what it comes from, its own first."""
    return [*case.culprit.names, *(name for event in reversed(case.line) for name in event.names)]
