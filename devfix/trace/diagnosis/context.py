"""The context of a misplaced value, in which the detectors of causes work: names, devices, and moves of modules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from devfix.rules.registry import rule_for_cause
from devfix.trace.diagnosis.blame import events_since
from devfix.trace.failure_trace import FailureTrace, ModuleEvent, Owner, Package, Value, ValueEvent, ValueName
from devfix.trace.names import device_noun, expression, name_of

__all__ = [
    "EXPLICIT_DEVICE",
    "NO_RULE",
    "Cause",
    "Context",
    "all_names",
    "last_move_away",
    "origin_clause",
    "peer_clause",
    "peer_device",
    "preceding_events",
]

#: The code of a cause that no rule explains.
NO_RULE = "DEV000"

#: Causes in which the program itself names the wrong device.
EXPLICIT_DEVICE = frozenset({"moved-to-other-device", "created-on-literal-device"})


class Cause(NamedTuple):
    """The cause of a failure.

    Attributes:
        name: its kebab-case name, as in :attr:`devfix.rules.rule.Rule.causes`.
        sentence: a sentence that describes it.
        package: the installed package at fault; None if the project is at fault.

    """

    name: str
    sentence: str
    package: Package | None = None

    @property
    def rule(self) -> str:
        """The code of the rule that explains the cause; :data:`NO_RULE` if none does."""
        rule = rule_for_cause(self.name)
        return NO_RULE if rule is None else rule.code


@dataclass(frozen=True)
class Context:
    """A misplaced value, the operand it conflicts with (None if an operation requires the CPU), and its origin."""

    failure: FailureTrace
    value: Value
    peer: Value | None
    origin: ValueEvent | None

    @cached_property
    def events(self) -> tuple[ValueEvent, ...]:
        """The events from the origin on."""
        return events_since(self.value, self.origin)

    @property
    def name(self) -> str:
        return f"`{name_of(self.value, self.events)}`"

    @property
    def device(self) -> str:
        """The value's device, as a noun."""
        return device_noun(self.value.device)

    @property
    def expected_device(self) -> str:
        """The device that the value should be on, as a noun."""
        if self.peer is not None:
            return device_noun(self.peer.device)
        return "the accelerator" if self.value.on_cpu else "the CPU"

    @property
    def at_origin(self) -> str:
        """The position of the origin, to end a phrase with: " at train.py:3"; empty if unknown."""
        return f" at {self.origin.position}" if self.origin and self.origin.position else ""

    @property
    def origin_code(self) -> str:
        """The expression at the origin, quoted."""
        if self.origin and self.origin.position:
            return f"`{expression(self.origin.position)}`"
        return "code outside the project"

    @cached_property
    def owner(self) -> Owner | None:
        """The module that stores the value, or the value that it was computed from."""
        return next((event.owner for event in reversed(self.events) if event.owner), self.value.owner)

    @property
    def registered_in(self) -> Owner | None:
        """The module whose parameter or buffer the value is."""
        return self.owner if self.owner and self.owner.kind != "attribute" else None

    @property
    def root_module(self) -> str:
        """The class of the outermost module that contains the value, quoted."""
        assert self.owner is not None
        return f"`{self.owner.enclosing[-1].type if self.owner.enclosing else self.owner.type}`"


def origin_clause(context: Context) -> str:
    """Return how the value was created: "created at train.py:3 by `torch.zeros(3)`"."""
    if context.origin is None:
        return "of unknown origin"
    verbs = {"loaded": "loaded", "computed": "computed", "moved": "moved there"}
    verb = verbs.get(context.origin.kind, "created")
    return f"{verb}{context.at_origin} by {context.origin_code}" if context.origin.position else verb


def peer_clause(context: Context) -> str:
    """Return the subject and verb for the other operand: "`x` is"."""
    return f"`{name_of(context.peer)}` is" if context.peer else "it is needed"


def preceding_events(context: Context) -> list[ValueEvent]:
    """Return the events that produced the inputs of the origin."""
    assert context.origin is not None
    by_index = {event.index: event for event in context.value.history}
    return [by_index[index] for index in context.origin.predecessors if index in by_index]


def peer_device(context: Context) -> str:
    """Return the other operand's device; empty if there is none."""
    return context.peer.device if context.peer else ""


def last_move_away(context: Context) -> ModuleEvent | None:
    """Return the last move of a module that contains the value to another device than the value's."""
    assert context.owner is not None
    moves = [
        event for event in context.owner.all_events if event.kind == "moved" and event.device != context.value.device
    ]
    return max(moves, key=lambda event: event.index, default=None)


def all_names(context: Context) -> list[ValueName]:
    """Return the names of the value, then those of the values that it was computed from."""
    return [*context.value.names, *(name for event in reversed(context.events) for name in event.names)]
