"""Runs while a program is repaired: what is counted, what is left of the time, and when it is enough."""

from types import SimpleNamespace

import pytest

from devfix.trace.repair.attempts import Attempts, Budget
from devfix.trace.repair.edited_sources import EditedSources


class Experiment:
    """Every run succeeds, with one forgotten parameter for each changed file; every verdict is ``status``."""

    def __init__(self, status="fixed"):
        self.status, self.seconds = status, []

    def run_with_provenance(self, changes, seconds):
        self.seconds.append(seconds)
        return SimpleNamespace(ok=True, forgotten=tuple(changes))

    def prove(self, changes, made):
        return SimpleNamespace(status=self.status, runs={"original/device": "the original"})


def trials(budget=None, status="fixed"):
    return Attempts(Experiment(status), budget or Budget(), lambda line: None)


@pytest.fixture
def texts(tmp_path):
    return EditedSources(tmp_path, {"a.py": b"x = 1\n"})


def test_runs_are_counted_and_end_the_search(texts):
    made = trials(Budget(runs=1))
    assert not made.is_spent()

    made.run(texts)

    assert (made.runs, made.is_spent()) == (1, True)
    assert made.seen == {frozenset({("a.py", b"x = 1\n")})}


def test_a_run_gets_the_time_that_is_left_but_never_less_than_a_few_seconds(texts):
    made = trials(Budget(seconds=100))

    made.run(texts)
    made.started -= 99
    made.run(texts)

    first, second = made.experiment.seconds
    assert 90 < first <= 100
    assert second == 5


def test_the_run_without_a_change_is_the_original_one(tmp_path, texts):
    made = trials()

    made.run(texts)
    assert made.original is None
    run = made.run(EditedSources(tmp_path))

    assert made.original is run
    assert made.min_forgotten == 0


@pytest.mark.parametrize(("status", "spent"), [("fixed", False), ("loss-differs", False), ("inconclusive", True)])
def test_where_nothing_can_be_proved_nothing_more_is_run(texts, status, spent):
    made = trials(status=status)

    verdict = made.prove(texts, made.run(texts))

    assert made.is_spent() is spent
    assert made.best == (None if status == "fixed" else (verdict, texts.changes))
    assert (made.original, made.runs) == ("the original", 2)
