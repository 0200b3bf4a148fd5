"""Whether one edit brought a script further: which value a run failed of, and where."""

from __future__ import annotations

import re

from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose, diagnose_call
from devfix.trace.story_json import read_story
from devfix.verify.records import Run

__all__ = ["diagnosis_of", "got_further", "is_another", "place_of"]


def diagnosis_of(run: Run) -> Diagnosis | None:
    """Which value a run failed of; None where it did not, or in no code of the project."""
    story = read_story(run) if run.device_error else None
    if story is None or not story.frames:
        return None
    return diagnose(story) or diagnose_call(story)


def got_further(before: Run, after: Run, diagnosis: Diagnosis) -> bool:
    """Whether a run failed of a device error later than the one before it, or of another value of the same call."""
    if not after.device_error or after.all_operations < before.all_operations:
        return False
    other = diagnosis_of(after)
    if after.all_operations > before.all_operations:
        return True
    return other is not None and other.name != diagnosis.name and _birth(other) != _birth(diagnosis)


def is_another(diagnosis: Diagnosis, run: Run) -> bool:
    """Whether a run failed of another value than the diagnosis tells of."""
    other = diagnosis_of(run)
    return other is not None and (_birth(other), _kind(other)) != (_birth(diagnosis), _kind(diagnosis))


def _kind(diagnosis: Diagnosis) -> str:
    """The culprit's name, whichever element it is: one edit is meant for all of them."""
    return re.sub(r"\[\d+\]", "[]", diagnosis.name)


def place_of(diagnosis: Diagnosis) -> object:
    """Where which value fails, whatever was edited before it."""
    return diagnosis.where.file, diagnosis.where.code, _birth(diagnosis), diagnosis.name


def _birth(diagnosis: Diagnosis) -> object:
    born = diagnosis.born
    if born is None or born.position is None:
        return diagnosis.name
    return born.position.file, born.position.code
