"""Comparison of two trainings: bit for bit, or on a real accelerator within the rounding of its kernels.

On a real accelerator, float32 losses have a tolerance per step.  If they exceed it, both runs are repeated in float64
(:mod:`devfix.verify.probe.float64`): they must agree there, or the accelerator must be about as close to float64 as the
reference is.  The latter is the rule of ``same()`` in PyTorch's own benchmarks
(https://github.com/pytorch/pytorch/blob/main/torch/_dynamo/utils.py).
"""

from __future__ import annotations

import math
from array import array
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from devfix.verify.records import Run
from devfix.verify.tolerances import (
    ABSOLUTE,
    DISTANCE_FACTOR,
    EARLY_RELATIVE,
    LOW_PRECISION,
    RELATIVE,
    RELATIVE_IN_FLOAT64,
    SAME_DIRECTION,
    SLACK,
)

__all__ = [
    "SAME_DIRECTION",
    "Match",
    "agree",
    "describe_cosine",
    "first_difference",
    "first_disagreement",
    "in_float64",
    "match",
    "on_real_device",
    "same_direction",
    "step_of",
    "tolerance",
    "update_cosine",
]


class Match(NamedTuple):
    """Whether the losses of two runs agree, with a description for the verdict's reason."""

    good: bool
    description: str


def on_real_device(*runs: Run) -> bool:
    """Whether one of the runs, or its setup run, used other kernels than the CPU's."""
    devices = {device for run in runs for device in (run.device, run.setup_device)}
    return not devices <= {"cpu", "sim", "unchecked", None}


def tolerance(step: int, reference: float, precision: str = "float32") -> float:
    """Return the largest allowed distance of a loss at ``step`` (from 1) from ``reference`` on a real accelerator."""
    last, relative = EARLY_RELATIVE
    relative = relative if step <= last else RELATIVE
    return ABSOLUTE + max(relative, LOW_PRECISION.get(precision, 0.0)) * abs(reference)


def step_of(run: Run, index: int) -> int:
    """Return the step (from 1) that a loss belongs to, also with gradient accumulation."""
    return index * min(run.steps, len(run.losses)) // len(run.losses) + 1


def in_float64(name: str) -> str:
    """Return the name of a run's repetition in float64."""
    return f"{name} in float64"


def _is_equal(left: float, right: float) -> bool:
    return left == right or (left != left and right != right)


def first_difference(losses: Sequence[float], other: Sequence[float]) -> int | None:
    """Return the index of the first loss that differs bitwise; None if all are equal (NaN equals NaN)."""
    for index, (left, right) in enumerate(zip(losses, other)):
        if not _is_equal(left, right):
            return index
    return None if len(losses) == len(other) else min(len(losses), len(other))


def first_disagreement(run: Run, other: Run) -> int | None:
    """Return the index of the first loss outside the tolerance; None if all agree."""
    if not on_real_device(run, other):
        return first_difference(run.losses, other.losses)
    precision = _lowest_precision(run, other)
    for index, (left, right) in enumerate(zip(run.losses, other.losses)):
        if not _is_equal(left, right) and not abs(left - right) <= tolerance(step_of(other, index), right, precision):
            return index
    return None if len(run.losses) == len(other.losses) else min(len(run.losses), len(other.losses))


def agree(run: Run, other: Run) -> bool:
    """Whether losses, steps and final parameters (on a real device: the update's direction) of two runs agree."""
    if first_disagreement(run, other) is not None or not _same_work(run, other):
        return False
    return not on_real_device(run, other) or same_direction(run, other)


def _same_work(run: Run, other: Run) -> bool:
    if run.steps != other.steps or len(run.losses) != len(other.losses):
        return False
    if not on_real_device(run, other):
        return run.digest == other.digest
    return run.parameters == other.parameters


def update_cosine(run: Run, other: Run) -> float | None:
    """Return the cosine similarity of the parameter updates of two runs; None if one recorded no update.

    The result is NaN or 0 if they cannot be compared: the parameters differ, or only one run changed them.
    """
    if not (run.update and other.update):
        return None
    ours, theirs = (array("f", b64decode(each.update)) for each in (run, other))
    if len(ours) != len(theirs):
        return math.nan
    lengths = math.hypot(*ours) * math.hypot(*theirs)
    if lengths == 0:
        return 1.0 if ours == theirs else 0.0
    return sum(a * b for a, b in zip(ours, theirs)) / lengths


def describe_cosine(cosine: float) -> str:
    """Return a description of an update whose direction differs."""
    return f"the cosine similarity of the parameter updates is {cosine:.4f}, below {SAME_DIRECTION}"


def same_direction(run: Run, other: Run) -> bool:
    """Whether the parameter updates of two runs have the same direction; True if one recorded no update."""
    cosine = update_cosine(run, other)
    return cosine is None or cosine >= SAME_DIRECTION


def match(runs: Mapping[str, Run], name: str, reference: str) -> Match:
    """Compare two runs, and their repetitions in float64 if there are any.

    Args:
        runs: by name; :func:`in_float64` gives the names of the repetitions.
        name: the run to judge.
        reference: the run with the expected losses.

    """
    run, other = runs[name], runs[reference]
    if agree(run, other):
        if not on_real_device(run, other):
            return Match(True, f"match {reference} bit for bit")
        worst = max((abs(a - b) for a, b in zip(run.losses, other.losses) if not _is_equal(a, b)), default=0.0)
        return Match(
            True, f"match {reference} (computed in {_lowest_precision(run, other)}; largest difference {worst:.2g})"
        )
    again = runs.get(in_float64(name)), runs.get(in_float64(reference))
    if again[0] is None or again[1] is None or not _same_work(run, other):
        return Match(False, "")
    return _match_in_float64(run, other, again[0], again[1], reference)


def _match_in_float64(run: Run, other: Run, wide: Run, reference_wide: Run, reference: str) -> Match:
    for each, name in ((wide, "the patched script"), (reference_wide, reference)):
        if not each.ok:
            return Match(False, f"{name} failed when repeated in float64: {each.outcome}")
    if not _is_same_training(reference_wide, other):
        return Match(False, f"repeating in float64 is no evidence: {reference} trains differently there")
    if not _same_work(wide, reference_wide):
        return Match(False, "in float64 the number of losses, steps or parameters differs")
    differs_at = _first_float64_difference(wide.losses, reference_wide.losses)
    if not same_direction(wide, reference_wide):
        cosine = describe_cosine(update_cosine(wide, reference_wide) or 0.0)
        return Match(False, f"in float64 the parameter updates also differ: {cosine}")
    index = first_disagreement(run, other)
    if index is None and differs_at is None:
        return Match(True, f"match {reference}, and in float64 the parameter updates match")
    number = (index or 0) + 1
    if differs_at is None:
        return Match(
            True,
            f"match {reference} in float64, relative difference at most {RELATIVE_IN_FLOAT64:g} (in "
            f"{_lowest_precision(run, other)} rounding errors accumulate from loss {number} on)",
        )
    expected = _rms_distance(other.losses, reference_wide.losses)
    actual = _rms_distance(run.losses, reference_wide.losses)
    if actual <= DISTANCE_FACTOR * expected + SLACK:  # False if one of them is NaN
        return Match(
            True,
            f"are as close to float64 as {reference} (RMS error {actual:.2g}, reference {expected:.2g}; rounding "
            f"errors accumulate from loss {number} on)",
        )
    return Match(
        False,
        f"in float64 the losses also differ, from loss {differs_at + 1} on: {wide.losses[differs_at]!r} instead of "
        f"{reference_wide.losses[differs_at]!r}; the RMS error against float64 is {actual:.2g}, that of {reference} is "
        f"{expected:.2g}",
    )


def _is_same_training(wide: Run, narrow: Run) -> bool:
    """Whether float64 changed nothing but the rounding: the first losses equal those of the original run."""
    if (wide.steps, len(wide.losses)) != (narrow.steps, len(narrow.losses)):
        return False
    last, _ = EARLY_RELATIVE
    first = [pair for index, pair in enumerate(zip(wide.losses, narrow.losses)) if step_of(narrow, index) <= last]
    return all(abs(a - b) <= tolerance(1, a, narrow.precision) for a, b in first)


def _first_float64_difference(losses: Sequence[float], other: Sequence[float]) -> int | None:
    pairs = zip(losses, other)
    return next((at for at, (a, b) in enumerate(pairs) if not abs(a - b) <= RELATIVE_IN_FLOAT64 * abs(b)), None)


def _rms_distance(losses: Sequence[float], other: Sequence[float]) -> float:
    """Return the root mean square of the differences."""
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(losses, other)) / len(other)) if other else math.nan


def _lowest_precision(run: Run, other: Run) -> str:
    return max((run.precision, other.precision), key=lambda name: LOW_PRECISION.get(name, 0.0))
