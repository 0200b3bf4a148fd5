"""Arguments of several kinds."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.arguments import Evidence, Kind, union


@pytest.mark.parametrize(
    ("kinds", "main", "alternatives"),
    [
        ([Kind.NUMBER, Kind.TENSOR], Kind.TENSOR, {Kind.NUMBER}),
        ([Kind.TENSORS, Kind.TENSOR], Kind.TENSOR, {Kind.TENSORS}),
        ([Kind.TEXT, Kind.DEVICE], Kind.DEVICE, {Kind.TEXT}),
        ([Kind.NUMBER, Kind.LIST], Kind.NUMBER, {Kind.LIST}),
        ([Kind.UNKNOWN, Kind.TENSOR], Kind.TENSOR, set()),
        ([], Kind.UNKNOWN, set()),
    ],
)
def test_one_of_several_kinds_is_the_main_one(kinds, main, alternatives):
    argument = union(kinds, False, Evidence.ANNOTATION)
    assert argument.kind is main and argument.alternatives == alternatives
    assert argument.kinds == {main, *alternatives}
