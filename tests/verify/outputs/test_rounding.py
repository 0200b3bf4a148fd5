"""What may differ by rounding on a real accelerator."""

from __future__ import annotations

import pytest

from devfix.verify.outputs.rounding import arrays_agree, numbers_agree, printed_agree, same_kind

NAN = float("nan")


@pytest.mark.parametrize(
    ("ours", "theirs", "agree"),
    [
        ("0.75", "0.75", True),
        ("0.75", "0.76", True),
        ("0.750", "0.770", False),
        ("1e-3", "2e-3", True),
        ("12", "13", False),
        ("1200", "1201", True),
    ],
)
def test_printed_numbers_agree_up_to_one_unit_of_the_last_decimal(ours, theirs, agree):
    assert printed_agree(ours, theirs) == agree


def test_nan_agrees_with_nan_only():
    assert numbers_agree(NAN, NAN) and not numbers_agree(NAN, 1.0) and not numbers_agree(1.0, NAN)


def test_arrays_agree_by_direction_and_length():
    assert arrays_agree([1.0, 2.0, 3.0], [1.001, 2.0, 2.999])
    assert arrays_agree([], []) and arrays_agree([0.0], [0.0])
    assert not arrays_agree([2.0, 4.0], [1.0, 2.0])
    assert not arrays_agree([1.0, -1.0], [1.0, 1.0])
    assert not arrays_agree([0.0, 0.0], [1.0, 1.0])


def test_an_array_of_zeros_or_without_variation_is_of_another_kind():
    assert same_kind([0.1, 0.2], [0.3, 0.4])
    assert not same_kind([0.0, 0.0], [0.3, 0.4]) and not same_kind([0.3, 0.3], [0.3, 0.4])
    assert not same_kind([NAN, 0.3], [0.2, 0.4])
