"""The diagnosis of a device error: the misplaced value, its origin, and the cause."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.trace.diagnosis.blame import computed_origin, events_since, find_misplaced, is_part, origin_of
from devfix.trace.diagnosis.causes import Cause, cause_of
from devfix.trace.diagnosis.non_tensor_causes import cause_without_values
from devfix.trace.failure_trace import FailureTrace, Package, Position, Value, ValueEvent
from devfix.trace.names import name_of

__all__ = ["NO_VALUE", "Diagnosis", "diagnose", "diagnose_without_values"]

#: The misplaced value of a failure without known operands.
NO_VALUE = Value("", (), (), "", "cpu", False, ())


@dataclass(frozen=True)
class Diagnosis:
    """The cause of a failure.

    Attributes:
        failure: the failure.
        misplaced: the value on the wrong device; :data:`NO_VALUE` if no value is known.
        peer: an operand on the expected device; None if an operation requires the CPU.
        origin: the event that put the value on its device: its creation, or its last transfer.
        cause: the cause.

    """

    failure: FailureTrace
    misplaced: Value
    peer: Value | None
    origin: ValueEvent | None
    cause: Cause

    @property
    def rule(self) -> str:
        """The code of the rule that explains the cause; ``DEV000`` if none does."""
        return self.cause.rule

    @property
    def package(self) -> Package | None:
        """The installed package at fault; None if the project is at fault."""
        return self.cause.package

    @property
    def name(self) -> str:
        """The misplaced value's name in the failing code, or the expression that created it."""
        return name_of(self.misplaced, events_since(self.misplaced, self.origin))

    @property
    def where(self) -> Position:
        """The failing line."""
        return self.failure.where


def diagnose(failure: FailureTrace) -> Diagnosis | None:
    """Return the diagnosis of a device error; None for other errors, and if no operand is known."""
    misplacement = find_misplaced(failure) if failure.family is not None else None
    if misplacement is None:
        return None
    value, peer = misplacement
    is_computed = peer is None or not (value.on_cpu or peer.on_cpu)
    origin = computed_origin(value) if is_computed and not value.on_cpu and not is_part(value) else origin_of(value)
    return Diagnosis(failure, value, peer, origin, cause_of(failure, misplacement, origin))


def diagnose_without_values(failure: FailureTrace) -> Diagnosis:
    """Return the diagnosis of a device error from its message and the failing call alone."""
    return Diagnosis(failure, NO_VALUE, None, None, cause_without_values(failure))
