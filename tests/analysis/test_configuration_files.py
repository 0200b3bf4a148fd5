"""Configuration files are read as data, within bounds."""

from __future__ import annotations

import pytest

from devfix.analysis.overlays.configuration_files import Tagged, read_file
from devfix.analysis.program import Program

LEVELS = "".join(f"l{i}: &l{i} {{a{i}: 1, <<: [{', '.join([f'*l{i - 1}'] * 20)}]}}\n" for i in range(1, 12))


def read(text):
    return read_file(Program({"/p/a.yaml": text}.get, "/p"), "/p/a.yaml")


def test_tags_of_applications_are_kept():
    assert read("a: !new:pkg.Net\n    size: 3\nb: [1, two]\n") == {
        "a": Tagged("new:pkg.Net", {"size": 3}),
        "b": [1, "two"],
    }


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"l0: &l0 {{a0: 1}}\n{LEVELS}", id="merges-of-merges"),
        pytest.param("a: [1", id="syntax"),
        pytest.param("- a\n- b\n", id="no-mapping"),
        pytest.param("a: " + "[" * 5_000, id="deep"),
        pytest.param("a: '" + "x" * 200_000 + "'", id="long"),
        pytest.param("a: &a [*a]\nb: {? *a : 1}\n", id="recursive-key"),
    ],
)
def test_what_cannot_be_read_is_nothing(text):
    assert read(text) is None
