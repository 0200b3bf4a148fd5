"""Agreement of numbers that are rounded differently, by the kernels of a real accelerator or by their type."""

from __future__ import annotations

import math
from collections.abc import Sequence

from devfix.verify.tolerances import ABSOLUTE, NORM_RATIO, RELATIVE_OF_RESULTS, SAME_DIRECTION

__all__ = ["arrays_agree", "numbers_agree", "printed_agree", "same_in_float32", "same_kind"]

#: Least number of printed digits of a float32, and the relative rounding error of a sum of some.
_DIGITS = 7
_FLOAT32 = 5e-7


def numbers_agree(ours: float, theirs: float, unit: float = 0.0) -> bool:
    """Whether two numbers are equal up to rounding; ``unit`` is that of the last printed digit."""
    if ours == theirs or (ours != ours and theirs != theirs):
        return True
    return abs(ours - theirs) <= ABSOLUTE + unit + RELATIVE_OF_RESULTS * abs(theirs)


def printed_agree(ours: str, theirs: str) -> bool:
    """Whether two printed numbers are equal up to rounding and one unit of the last printed decimal."""
    return numbers_agree(float(ours), float(theirs), max(_unit(ours), _unit(theirs)))


def same_in_float32(ours: str, theirs: str) -> bool:
    """Whether two numbers, printed with all digits, are a result in float32 and in float64.

    A list of losses has another type if it holds Python's numbers instead of tensors.
    """
    if not all("." in each or "e" in each.lower() for each in (ours, theirs)):
        return False
    mantissas = (each.lower().partition("e")[0].lstrip("+-0.") for each in (ours, theirs))
    digits = sorted(len(each.replace(".", "").rstrip("0")) for each in mantissas)
    return digits[0] >= _DIGITS < digits[1] and math.isclose(float(ours), float(theirs), rel_tol=_FLOAT32)


def _unit(printed: str) -> float:
    mantissa, _, exponent = printed.lower().partition("e")
    if "." not in mantissa and not exponent:
        return 0.0
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def same_kind(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Whether both samples of an array are zero, constant or varied, and finite or not."""
    return _kind(ours) == _kind(theirs)


def _kind(samples: Sequence[float]) -> tuple[bool, bool, bool]:
    finite = all(map(math.isfinite, samples))
    return finite, any(samples), len(set(samples)) > 1


def arrays_agree(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Whether samples of all arrays of a file have the same direction and length."""
    pairs = [(a, b) for a, b in zip(ours, theirs) if math.isfinite(a) and math.isfinite(b)]
    our_length, their_length = (math.hypot(*(pair[side] for pair in pairs)) for side in (0, 1))
    if our_length == 0 or their_length == 0:
        return our_length == their_length
    cosine = sum(a * b for a, b in pairs) / our_length / their_length
    ratio = our_length / their_length
    return cosine >= SAME_DIRECTION and 1 / NORM_RATIO <= ratio <= NORM_RATIO
