"""Which value is out of place, and what put it there."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.trace.diagnosis.blame import accuse, birth, emergence, is_part, line_from
from devfix.trace.diagnosis.causes import Cause, cause_of
from devfix.trace.names import name_of
from devfix.trace.story import Happening, Package, Position, Story, Value

__all__ = ["Diagnosis", "diagnose", "diagnose_call"]


@dataclass(frozen=True)
class Diagnosis:
    """The cause of a failure, as far as it is known.

    Attributes:
        story: what was told.
        culprit: the value that is out of place.
        peer: a value that it met, on the device where the culprit should be; None where an operation needs the CPU.
        born: the event that put the culprit where it is: its creation, or its last transfer.
        rule: the code of the rule that names the cause; ``DEV000`` where none does.
        cause: one sentence.
        package: the installed package that is at fault; None if the project is.

    """

    story: Story
    culprit: Value
    peer: Value | None
    born: Happening | None
    rule: str
    cause: str
    package: Package | None

    @property
    def name(self) -> str:
        """What the failing code calls the culprit: a name, or the expression that made it."""
        return name_of(self.culprit, line_from(self.culprit, self.born))

    @property
    def where(self) -> Position:
        """The line that fails."""
        return self.story.where


def diagnose(story: Story) -> Diagnosis | None:
    """The cause of a device error; None where the story is of another failure or of no values."""
    accused = accuse(story) if story.family is not None else None
    if accused is None:
        return None
    culprit, peer = accused
    computed = peer is None or not (culprit.on_cpu or peer.on_cpu)
    born = emergence(culprit) if computed and not culprit.on_cpu and not is_part(culprit) else birth(culprit)
    cause: Cause = cause_of(story, accused, born)
    return Diagnosis(story, accused.culprit, accused.peer, born, cause.rule, cause.sentence, cause.package)


def diagnose_call(story: Story) -> Diagnosis:
    """What is known of a device error from its message and the call that failed; the culprit is nothing."""
    from devfix.trace.diagnosis.non_tensor_causes import cause_without_values

    cause = cause_without_values(story)
    nothing = Value("", (), (), "", "cpu", False, ())
    return Diagnosis(story, nothing, None, None, cause.rule, cause.sentence, cause.package)
