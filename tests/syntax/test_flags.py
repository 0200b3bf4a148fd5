"""Flags: local names that keep the outcome of a type test."""

from __future__ import annotations

import ast

import pytest

from devfix.syntax.flags import meaning_of_flag


def meaning(*lines):
    (function,) = ast.parse("def f(x, y):\n" + "\n".join(f"    {line}" for line in lines)).body
    found = meaning_of_flag(function, "flag")
    return found and (ast.unparse(found.test), found.is_outdated)


@pytest.mark.parametrize(
    "test",
    ["isinstance(x, list)", "not isinstance(x, list)", "torch.is_tensor(x) or x is None", "hasattr(x, 'device')"],
)
def test_a_flag_means_the_test_that_it_keeps(test):
    assert meaning(f"flag = {test}", "return flag") == (test, False)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["flag = x > 0"], id="no-type-test"),
        pytest.param(["flag = isinstance(x, list) and x > 0"], id="more-than-a-type-test"),
        pytest.param(["flag = isinstance(x, list)", "flag = y"], id="bound-again"),
        pytest.param(["flag = other = isinstance(x, list)"], id="two-names"),
        pytest.param(["return flag"], id="global-name"),
    ],
)
def test_other_names_mean_nothing(lines):
    assert meaning(*lines) is None


@pytest.mark.parametrize(
    ("lines", "is_outdated"),
    [
        pytest.param(["x = y", "flag = isinstance(x, list)"], False, id="bound-before"),
        pytest.param(["flag = isinstance(x, list)", "x = y"], True, id="bound-again"),
    ],
)
def test_a_flag_is_outdated_when_its_subject_is_bound_again(lines, is_outdated):
    assert meaning(*lines) == ("isinstance(x, list)", is_outdated)


def test_a_module_has_no_flags():
    assert meaning_of_flag(ast.parse("flag = isinstance(x, list)"), "flag") is None
