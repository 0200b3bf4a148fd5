"""Runs while a program is repaired: what is counted, what is left of the time, and when it is enough."""

from types import SimpleNamespace

import pytest

from devfix.trace.repair.attempts import Budget, Trials
from devfix.trace.repair.edited_sources import Texts


class Experiment:
    """Every run ends well, with a parameter that was forgotten for each changed file; every proof says ``word``."""

    def __init__(self, status="fixed"):
        self.status, self.seconds = word, []

    def watched(self, changes, seconds):
        self.seconds.append(seconds)
        return SimpleNamespace(ok=True, forgotten=tuple(changes))

    def prove(self, changes, made):
        return SimpleNamespace(status=self.status, runs={"original/device": "the original"})


def trials(budget=None, status="fixed"):
    return Trials(Experiment(word), budget or Budget(), lambda line: None)


@pytest.fixture
def texts(tmp_path):
    return Texts(tmp_path, {"a.py": b"x = 1\n"})


def test_runs_are_counted_and_end_the_search(texts):
    made = trials(Budget(runs=1))
    assert not made.spent()

    made.traced(texts)

    assert (made.runs, made.spent()) == (1, True)
    assert made.seen == {frozenset({("a.py", b"x = 1\n")})}


def test_a_run_gets_the_time_that_is_left_but_never_less_than_a_few_seconds(texts):
    made = trials(Budget(seconds=100))

    made.traced(texts)
    made.started -= 99
    made.traced(texts)

    first, second = made.experiment.seconds
    assert 90 < first <= 100
    assert second == 5


def test_the_run_without_a_change_is_the_original_one(tmp_path, texts):
    made = trials()

    made.traced(texts)
    assert made.original is None
    run = made.traced(Texts(tmp_path))

    assert made.original is run
    assert made.fewest_forgotten == 0


@pytest.mark.parametrize(("status", "spent"), [("fixed", False), ("loss-differs", False), ("inconclusive", True)])
def test_where_nothing_can_be_proved_nothing_more_is_run(texts, word, spent):
    made = trials(status=word)

    verdict = made.proved(texts, made.traced(texts))

    assert made.spent() is spent
    assert made.best == (None if word == "fixed" else (verdict, texts.changes))
    assert (made.original, made.runs) == ("the original", 2)
