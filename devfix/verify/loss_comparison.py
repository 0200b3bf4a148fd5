"""When two runs trained the same: bit for bit, or on a real accelerator within what its arithmetic explains.

On a real accelerator the losses of float32 have a tolerance by step.  Where they leave it, both runs are made once more
in float64 (:mod:`devfix.verify.probe.float64`): they must agree there, or the accelerator must be about as close to
float64 as the reference is, which is the rule ``same()`` of PyTorch's own benchmarks
(https://github.com/pytorch/pytorch/blob/main/torch/_dynamo/utils.py).
"""

from __future__ import annotations

import math
from array import array
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from devfix.verify.records import Run

__all__ = [
    *("SAME_DIRECTION", "Match", "agree", "direction", "direction_in_words", "first_difference"),
    *("first_disagreement", "in_float64", "match", "on_real_device", "same_direction", "step_of", "tolerance"),
]

#: Absolute part of the tolerance, and the relative part up to and including a step and after it (measured on three
#: networks whose sums were ordered anew: 2e-7 in 5 steps, 9e-7 in 20, 8e-5 in 50).
ABSOLUTE = 1e-5
RELATIVE_AT_FIRST = (5, 1e-4)
RELATIVE = 1e-3

#: Where less than 32 bits were computed with; TF32 has the mantissa of float16.
LOW_PRECISION = {"float16": 1e-2, "bfloat16": 1.6e-2, "tf32": 1e-2}

#: Relative difference of losses that were computed in float64.
RELATIVE_IN_FLOAT64 = 1e-6

#: ``same()``: how many times the reference's own distance to float64 is allowed, and the tolerance on top.
TIMES, ON_TOP = 3.0, 1e-4 / 10


#: Cosine of the angle between the ways that the parameters of two runs went, which PyTorch's benchmarks ask for too.
SAME_DIRECTION = 0.99


class Match(NamedTuple):
    """Whether the losses of two runs agree, and how that is told."""

    good: bool
    words: str


def on_real_device(*runs: Run) -> bool:
    """Whether one of the runs, or what was prepared for it, was computed with other kernels than the CPU's."""
    places = {place for run in runs for place in (run.device, run.prepared_on)}
    return not places <= {"cpu", "sim", "unchecked", None}


def tolerance(step: int, reference: float, precision: str = "float32") -> float:
    """How far a loss of step ``step`` (from 1) may be from ``reference`` on a real accelerator."""
    last, relative = RELATIVE_AT_FIRST
    relative = relative if step <= last else RELATIVE
    return ABSOLUTE + max(relative, LOW_PRECISION.get(precision, 0.0)) * abs(reference)


def step_of(run: Run, index: int) -> int:
    """The step (from 1) that a loss belongs to, also where gradients of several losses are gathered for one."""
    return index * min(run.steps, len(run.losses)) // len(run.losses) + 1


def in_float64(name: str) -> str:
    """What the second run of that name is called."""
    return f"{name} in float64"


def _equal(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def first_difference(one: Sequence[float], other: Sequence[float]) -> int | None:
    """Index of the first loss that is not the same number bit for bit; None if all are (NaN equals NaN)."""
    for index, (left, right) in enumerate(zip(one, other)):
        if not _equal(left, right):
            return index
    return None if len(one) == len(other) else min(len(one), len(other))


def first_disagreement(one: Run, other: Run) -> int | None:
    """Index of the first loss that does not agree; None if all do."""
    if not on_real_device(one, other):
        return first_difference(one.losses, other.losses)
    precision = _lowest(one, other)
    for index, (left, right) in enumerate(zip(one.losses, other.losses)):
        if not _equal(left, right) and not abs(left - right) <= tolerance(step_of(other, index), right, precision):
            return index
    return None if len(one.losses) == len(other.losses) else min(len(one.losses), len(other.losses))


def agree(one: Run, other: Run) -> bool:
    """Whether two runs trained the same: losses, steps, and where the parameters end, or on a real device which way."""
    if first_disagreement(one, other) is not None or not _same_work(one, other):
        return False
    return not on_real_device(one, other) or same_direction(one, other)


def _same_work(one: Run, other: Run) -> bool:
    if one.steps != other.steps or len(one.losses) != len(other.losses):
        return False
    if not on_real_device(one, other):
        return one.digest == other.digest
    return one.parameters == other.parameters


def direction(one: Run, other: Run) -> float | None:
    """Cosine of the angle between the ways that the parameters went; None where one run recorded none.

    Not a number, or 0, where the two cannot be compared: other parameters, or one run that changed none.
    """
    if not (one.update and other.update):
        return None
    ours, theirs = (array("f", b64decode(run.update)) for run in (one, other))
    if len(ours) != len(theirs):
        return math.nan
    lengths = math.hypot(*ours) * math.hypot(*theirs)
    if lengths == 0:
        return 1.0 if ours == theirs else 0.0
    return sum(a * b for a, b in zip(ours, theirs)) / lengths


def direction_in_words(cosine: float) -> str:
    """That the ways differ."""
    return f"the cosine of the update is {cosine:.4f}, and at least {SAME_DIRECTION} is needed"


def same_direction(one: Run, other: Run) -> bool:
    """Whether the parameters of two runs went the same way, as far as both have told."""
    alike = direction(one, other)
    return alike is None or alike >= SAME_DIRECTION


def match(runs: Mapping[str, Run], name: str, reference: str) -> Match:
    """How two runs agree, with the second look where it was made.

    Args:
        runs: by name; those of the second look have the names that :func:`in_float64` gives.
        name: the run that is to tell.
        reference: the run whose losses count as right.

    """
    one, other = runs[name], runs[reference]
    if agree(one, other):
        if not on_real_device(one, other):
            return Match(True, f"equal {reference} bit for bit")
        worst = max((abs(a - b) for a, b in zip(one.losses, other.losses) if not _equal(a, b)), default=0.0)
        return Match(
            True, f"agree with {reference} (computed in {_lowest(one, other)}; largest difference {worst:.2g})"
        )
    again = runs.get(in_float64(name)), runs.get(in_float64(reference))
    if again[0] is None or again[1] is None or not _same_work(one, other):
        return Match(False, "")
    return _second_look(one, other, again[0], again[1], reference)


def _second_look(one: Run, other: Run, wide: Run, wide_other: Run, reference: str) -> Match:
    for each, name in ((wide, "the patched script"), (wide_other, reference)):
        if not each.ok:
            return Match(False, f"a second look in float64 failed with {name}: {each.outcome}")
    if not _same_training(wide_other, other):
        return Match(False, f"a second look in float64 tells nothing: {reference} is another training there")
    if not _same_work(wide, wide_other):
        return Match(False, "in float64 the number of losses, steps or parameters differs")
    apart = _first_apart(wide.losses, wide_other.losses)
    if not same_direction(wide, wide_other):
        cosine = direction_in_words(direction(wide, wide_other) or 0.0)
        return Match(False, f"a second look in float64 shows that the parameters went another way: {cosine}")
    index = first_disagreement(one, other)
    if index is None and apart is None:
        return Match(True, f"agree with {reference}, and in float64 the parameters went the same way")
    number = (index or 0) + 1
    if apart is None:
        return Match(
            True,
            f"agree with {reference} in float64, relative difference at most {RELATIVE_IN_FLOAT64:g} (in "
            f"{_lowest(one, other)} they drift apart by rounding, from loss {number} on)",
        )
    own, ours = _distance(other.losses, wide_other.losses), _distance(one.losses, wide_other.losses)
    if ours <= TIMES * own + ON_TOP:  # false where one is not a number
        return Match(
            True,
            f"are as close to float64 as {reference} is (root of the mean square {ours:.2g} against {own:.2g}; they "
            f"drift apart by rounding, from loss {number} on)",
        )
    return Match(
        False,
        f"a second look in float64 shows it too, from loss {apart + 1} on: {wide.losses[apart]!r} against "
        f"{wide_other.losses[apart]!r}; its distance to float64 is {ours:.2g} (root of the mean square), that of "
        f"{reference} {own:.2g}",
    )


def _same_training(wide: Run, narrow: Run) -> bool:
    """Whether float64 changed the rounding and nothing else: the first losses are those of the run as it was."""
    if (wide.steps, len(wide.losses)) != (narrow.steps, len(narrow.losses)):
        return False
    last, _ = RELATIVE_AT_FIRST
    first = [pair for index, pair in enumerate(zip(wide.losses, narrow.losses)) if step_of(narrow, index) <= last]
    return all(abs(a - b) <= tolerance(1, a, narrow.precision) for a, b in first)


def _first_apart(one: Sequence[float], other: Sequence[float]) -> int | None:
    pairs = zip(one, other)
    return next((at for at, (a, b) in enumerate(pairs) if not abs(a - b) <= RELATIVE_IN_FLOAT64 * abs(b)), None)


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Root of the mean square of the differences."""
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(one, other)) / len(other)) if other else math.nan


def _lowest(one: Run, other: Run) -> str:
    return max((one.precision, other.precision), key=lambda name: LOW_PRECISION.get(name, 0.0))
