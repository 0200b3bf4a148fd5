"""Values of top-level calls: what counts as a result."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from devfix.verify.probe.returned import ReturnedValues


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"loss": 1.5}, ["loss: 1.5"]),
        ({"loss": 1.5, "__builtins__": {}, "started": 1234.5}, []),
        ("a docstring", []),
        (2.5, ["2.5"]),
    ],
    ids=["dictionary", "names of a script", "text", "number"],
)
def test_what_a_call_returns_is_a_result(value, expected):
    returned = ReturnedValues()
    returned.note(value)

    assert returned.results() == expected
