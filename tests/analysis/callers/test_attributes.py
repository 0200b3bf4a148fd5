"""The kinds of values that have an attribute."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.attributes import kinds_with


@pytest.mark.parametrize(
    ("name", "called", "kinds"),
    [
        ("unsqueeze", True, {Kind.TENSOR}),
        ("add_", True, {Kind.TENSOR}),
        ("size", True, {Kind.TENSOR}),
        ("size", False, {Kind.ARRAY}),
        ("shape", False, {Kind.TENSOR, Kind.ARRAY}),
        ("mean", True, {Kind.TENSOR, Kind.ARRAY}),
        ("to", True, {Kind.TENSOR, Kind.MODULE}),
        ("state_dict", True, {Kind.MODULE}),
        ("startswith", True, {Kind.TEXT}),
        ("items", True, {Kind.TENSOR_DICT}),
        ("edge_index", False, set()),
        ("encode_all", True, set()),
    ],
)
def test_an_attribute_has_owners(name, called, kinds):
    assert kinds_with(name, called) == kinds
