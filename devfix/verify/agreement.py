"""When two runs trained the same: bit for bit, or on a real accelerator within what its arithmetic explains."""

from __future__ import annotations

from collections.abc import Sequence

from devfix.verify.runs import Run

__all__ = ["agree", "first_difference", "first_disagreement", "in_words", "tolerance"]

#: Absolute part of the tolerance, and the relative part up to and including a step; beyond the last, losses of the
#: same training drift apart by themselves (measured on three networks: 2e-7 in 5 steps, 9e-7 in 20, 8e-5 in 50).
ABSOLUTE = 1e-5
RELATIVE = ((5, 1e-4), (20, 1e-3))
RELATIVE_LATER = 1e-2

#: Where less than 32 bits were computed with; TF32 has the mantissa of float16.
LOW_PRECISION = {"float16": 1e-2, "bfloat16": 1.6e-2, "tf32": 1e-2}


def _exact(one: Run, other: Run) -> bool:
    return "cuda" not in (one.device, other.device)


def tolerance(number: int, reference: float, precision: str = "float32") -> float:
    """How far the loss of step ``number`` (from 1) may be from ``reference`` on a real accelerator."""
    relative = next((part for last, part in RELATIVE if number <= last), RELATIVE_LATER)
    return ABSOLUTE + max(relative, LOW_PRECISION.get(precision, 0.0)) * abs(reference)


def first_difference(one: Sequence[float], other: Sequence[float]) -> int | None:
    """Index of the first loss that is not the same number bit for bit; None if all are (NaN equals NaN)."""
    for index, (left, right) in enumerate(zip(one, other)):
        if left != right and not (left != left and right != right):
            return index
    return None if len(one) == len(other) else min(len(one), len(other))


def first_disagreement(one: Run, other: Run) -> int | None:
    """Index of the first loss that does not agree; None if all do."""
    if _exact(one, other):
        return first_difference(one.losses, other.losses)
    precision = _lowest(one, other)
    for index, (left, right) in enumerate(zip(one.losses, other.losses)):
        if left == right or (left != left and right != right):
            continue
        if not abs(left - right) <= tolerance(index + 1, right, precision):
            return index
    return None if len(one.losses) == len(other.losses) else min(len(one.losses), len(other.losses))


def agree(one: Run, other: Run) -> bool:
    """Whether two runs trained the same: losses, steps, and where it is exact the parameters at the end."""
    if one.steps != other.steps or first_disagreement(one, other) is not None:
        return False
    return one.digest == other.digest if _exact(one, other) else one.parameters == other.parameters


def in_words(one: Run, other: Run, name: str) -> str:
    """How the losses of a run agree with those of the run of that name."""
    if _exact(one, other):
        return f"equal {name} bit for bit"
    worst = max((abs(a - b) for a, b in zip(one.losses, other.losses) if a != b), default=0.0)
    return f"agree with {name} (computed in {_lowest(one, other)}; largest difference {worst:.2g})"


def _lowest(one: Run, other: Run) -> str:
    return max((one.precision, other.precision), key=lambda name: LOW_PRECISION.get(name, 0.0))
