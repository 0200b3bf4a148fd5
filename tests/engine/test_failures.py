"""Failures: which operations a failure before them has hidden."""

from __future__ import annotations

import pytest

from devfix.engine.failures import Failure, comes_after, is_hidden
from devfix.syntax.tree import SourceTree

PROGRAM = """\
def step(x, flag):
    first(x)
    if flag:
        second(x)
    with lock:
        third(x)
    fourth(x)


def train(x, flag):
    for _ in range(3):
        before(x)
        step(x, flag)
        after(x)
    last(x)
"""
TREES = {"train.py": SourceTree("train.py", PROGRAM)}


def failure(*lines: int, consumer: str = "add") -> Failure:
    return Failure("train.py", lines[-1], consumer, "x", tuple(("train.py", line) for line in lines))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param((13, 2), (13, 7), id="same-block"),
        pytest.param((13, 2), (13, 4), id="into-a-branch"),
        pytest.param((13, 6), (13, 7), id="out-of-a-with"),
        pytest.param((13, 2), (14,), id="in-the-caller"),
        pytest.param((12,), (13, 6), id="in-the-callee"),
        pytest.param((13, 7), (15,), id="behind-the-loop"),
        pytest.param((13, 2), (13, 2), id="same-statement"),
    ],
)
def test_an_operation_behind_another_comes_after_it(earlier, later):
    assert comes_after(failure(*later), failure(*earlier), TREES.get)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param((13, 7), (13, 2), id="before"),
        pytest.param((13, 4), (13, 7), id="only-on-a-branch"),
        pytest.param((13, 4), (14,), id="on-a-branch-of-the-callee"),
        pytest.param((14,), (12,), id="earlier-in-the-loop"),
    ],
)
def test_an_operation_that_may_run_first_does_not(earlier, later):
    assert not comes_after(failure(*later), failure(*earlier), TREES.get)


def test_the_same_operation_failed_before_whatever_led_to_it():
    known = frozenset({failure(13, 4)})

    assert is_hidden(failure(14, 4), known, TREES.get)
    assert not is_hidden(failure(14, 2), known, TREES.get)
