"""The search for a repair: what it tries, keeps, drops and proves.

The experiment is a toy: a program of lines ``name = 0``, which fails at the first line that is not as it should be.
What ``right`` holds is an expression that decides, over the names, whether the line of a name fails.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devfix.model import ReplaceExpression
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair import progress
from devfix.trace.repair import search as search
from devfix.trace.repair.attempts import Budget
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.search import repair
from devfix.verify.project import Project
from devfix.verify.records import Failure, Run, RunError
from devfix.verify.verdict import Verdict

BROKEN = 9  # a value after which the program fails of an ordinary error
SPOILED = 8  # one with which it runs, and trains something else


@dataclass
class Toy:
    """Stands for an experiment."""

    root: Path
    right: dict[str, str]
    own_failure: bool = False
    tried: list[dict[str, int]] = field(default_factory=list)
    proved: int = 0

    @property
    def project(self) -> Project:
        return Project(self.root, "train.py", ".")

    def names(self, changes) -> dict[str, int]:
        text = changes["train.py"].decode() if "train.py" in changes else (self.root / "train.py").read_text()
        return {line.split(" = ")[0]: int(line.split(" = ")[1]) for line in text.splitlines()}

    def run_with_provenance(self, changes=None, at_most=None) -> Run:
        names = self.names(changes or {})
        self.tried.append(names)
        if BROKEN in names.values():
            return Run("sim", Failure("TypeError", "no such argument", None, "train.py", 1, "", ""))
        for number, name in enumerate(names, 1):
            if not eval(self.right.get(name, "True"), {}, names):
                failure = Failure("RuntimeError", "two devices", "mixed", "train.py", number, name, "")
                return Run("sim", failure, all_operations=number)
        if self.own_failure:
            return Run("sim", Failure("KeyError", "'x'", None, "train.py", 9, "", ""), all_operations=99)
        return Run("sim", all_operations=99)

    def prove(self, changes, made=None) -> Verdict:
        self.proved += 1
        if self.own_failure:
            return Verdict("inconclusive", "the original also fails without an accelerator")
        names = self.names(changes)
        if BROKEN in names.values():
            return Verdict("broken", "TypeError")
        return Verdict("loss-differs", "1 is not 2") if SPOILED in names.values() else Verdict("fixed", "equal")


@pytest.fixture
def toy(program, monkeypatch):
    """A toy program, and the values that are tried for each name, in order."""

    def made(values: dict[str, list[int]], right: dict[str, str], **more) -> Toy:
        told = program("".join(f"{name} = 0\n" for name in values))

        def diagnosis(run: Run) -> Diagnosis | None:
            if run.failure is None or run.failure.family is None:
                return None
            name = run.failure.code
            return told.failure(told.value(name, told.made(f"{name} = 0")), told.value("x"), told.at(f"{name} = 0"))

        def candidates(found, texts):
            tree = texts.tree("train.py")
            nodes = {each.targets[0].id: each.value for each in tree.tree.body if isinstance(each, ast.Assign)}
            for name in found.name.split("+"):
                for value in values[name]:
                    edit = ReplaceExpression("train.py", tree.span(nodes[name]), str(value))
                    yield Candidate(f"{name} = {value}", (edit,))

        monkeypatch.setattr(progress, "diagnosis_of", diagnosis)
        monkeypatch.setattr(search, "candidates", candidates)
        return Toy(told.root, right, **more)

    return made


def titles(found):
    return [step.candidate.title for step in found.steps]


def test_the_first_candidate_that_is_proved_is_kept(toy):
    experiment = toy({"a": [1, 2, 3]}, {"a": "a >= 2"})

    found = repair(experiment)

    assert found.repaired
    assert titles(found) == ["a = 2"]
    assert found.changes == {"train.py": b"a = 2\n"}
    assert found.originals == {"train.py": b"a = 0\n"}
    assert (found.runs, len(experiment.tried)) == (3, 3)
    assert found.diagnosis is None and found.reason == ""
    assert (experiment.root / "train.py").read_text() == "a = 0\n"


def test_a_candidate_that_runs_and_trains_something_else_is_dropped(toy):
    found = repair(toy({"a": [SPOILED, 2]}, {"a": "a"}))

    assert (titles(found), found.verdict.status) == (["a = 2"], "fixed")


def test_a_candidate_that_breaks_the_script_is_dropped(toy):
    found = repair(toy({"a": [BROKEN, 2]}, {"a": "a"}))

    assert titles(found) == ["a = 2"]


def test_failures_that_follow_each_other_are_repaired_in_one_patch(toy):
    found = repair(toy({"a": [1], "b": [1, 2], "c": [1]}, {"a": "a", "b": "b == 2", "c": "c"}))

    assert titles(found) == ["a = 1", "b = 2", "c = 1"]
    assert found.changes == {"train.py": b"a = 1\nb = 2\nc = 1\n"}


def test_an_edit_that_leads_nowhere_is_taken_back(toy):
    experiment = toy({"a": [1, 2], "b": [1]}, {"a": "a", "b": "a == 2"})

    found = repair(experiment)

    assert titles(found) == ["a = 2"]
    assert {"a": 1, "b": 1} in experiment.tried


def test_a_value_that_nothing_helped_is_not_gone_into_again(toy):
    experiment = toy({"a": [1, 2, 3], "b": [1, 2, 3]}, {"a": "a", "b": "False"})

    found = repair(experiment)

    assert not found.repaired
    assert [names["a"] for names in experiment.tried if names["b"]] == [1, 1, 1]


def test_an_edit_that_a_later_one_makes_unneeded_is_left_out(toy):
    experiment = toy({"a": [1], "x": [0], "b": [1]}, {"a": "a or b", "b": "b"})

    found = repair(experiment)

    assert titles(found)[-1] == "b = 1"
    assert found.changes == {"train.py": b"a = 0\nx = 0\nb = 1\n"}
    assert {"a": 1, "x": 0, "b": 0} in experiment.tried


def test_every_hunk_of_a_patch_was_left_out_once_and_is_needed(toy):
    experiment = toy({"a": [1], "x": [0], "b": [1]}, {"a": "a", "b": "b"})

    found = repair(experiment)

    assert found.changes == {"train.py": b"a = 1\nx = 0\nb = 1\n"}
    assert {"a": 0, "x": 0, "b": 1} in experiment.tried
    assert experiment.tried.index({"a": 1, "x": 0, "b": 1}) < experiment.tried.index({"a": 0, "x": 0, "b": 1})


def test_the_search_goes_on_from_what_reading_repairs(toy):
    experiment = toy({"a": [9], "b": [1]}, {"a": "a", "b": "b"})
    base = {"train.py": b"a = 3\nb = 0\n"}

    found = repair(experiment, base)

    assert (titles(found), found.base) == (["b = 1"], base)
    assert found.changes == {"train.py": b"a = 3\nb = 1\n"}


def test_what_reading_repairs_is_enough(toy):
    found = repair(toy({"a": [1]}, {"a": "a"}), {"train.py": b"a = 3\n"})

    assert found.repaired
    assert (found.steps, found.runs) == ((), 1)


@pytest.mark.parametrize("wrong", [SPOILED, BROKEN], ids=["spoils", "breaks"])
def test_the_search_begins_anew_where_what_reading_repairs_is_wrong(toy, wrong):
    found = repair(toy({"a": [1]}, {"a": "a"}), {"train.py": f"a = {wrong}\n".encode()})

    assert found.repaired
    assert (titles(found), found.base) == (["a = 1"], {})


def test_where_nothing_helps_the_failure_is_left_with_the_reason(toy):
    found = repair(toy({"a": [1, 2]}, {"a": "False"}))

    assert not found.repaired
    assert (found.steps, found.changes, found.verdict) == ((), {}, None)
    assert found.diagnosis.name == "a"
    assert found.reason == "no edit that was tried helps"


def test_what_runs_otherwise_is_told(toy):
    found = repair(toy({"a": [SPOILED]}, {"a": "a"}))

    assert not found.repaired
    assert found.changes == {}
    assert "1 is not 2" in found.reason


def test_a_script_that_fails_by_itself_ends_the_search_at_once(toy):
    experiment = toy({"a": [1, 2, 3, 4]}, {"a": "a"}, own_failure=True)

    found = repair(experiment)

    assert (len(experiment.tried), experiment.proved) == (2, 1)
    assert found.reason == "nothing can be proved: the original also fails without an accelerator"


def test_a_script_that_breaks_without_a_device_error_is_not_searched(toy):
    experiment = toy({"a": [1]}, {"a": "True"}, own_failure=True)

    found = repair(experiment)

    assert len(experiment.tried) == 1
    assert found.diagnosis is None
    assert found.reason == "the script did not finish: KeyError: 'x' at train.py:9"


@pytest.mark.parametrize(
    ("budget", "most"),
    [(Budget(runs=3), 3), (Budget(tries=2), 3), (Budget(seconds=0), 1)],
    ids=["runs", "tries", "seconds"],
)
def test_the_search_is_bounded(toy, budget, most):
    experiment = toy({"a": [1, 2, 3, 4, 5]}, {"a": "False"})

    found = repair(experiment, budget=budget)

    assert len(experiment.tried) == found.runs <= most
    assert not found.repaired


def test_failures_that_follow_each_other_without_end_are_not_followed(toy):
    names = "abcdefgh"
    experiment = toy({name: [1] for name in names}, {name: name for name in names})

    found = repair(experiment, budget=Budget(depth=3))

    assert not found.repaired
    assert max(sum(names.values()) for names in experiment.tried) == 3


def test_no_program_is_run_twice(toy):
    experiment = toy({"a": [1, 1, 2, 2], "b": [1, 1]}, {"a": "a == 2", "b": "False"})

    repair(experiment)

    assert len(experiment.tried) == len({tuple(names.items()) for names in experiment.tried})


def test_a_line_for_each_run_is_told(toy):
    told = []

    found = repair(toy({"a": [1, 2]}, {"a": "a == 2"}), report=told.append)

    assert [line for line in told if not line.startswith("it runs")] == [
        "running the original",
        "trying: a = 1",
        "trying: a = 2",
    ]
    assert found.runs == 3


def test_a_comment_at_the_cause_ends_the_search(toy):
    experiment = toy({"a": [1]}, {"a": "a"})
    text = "a = 0  # devfix: ignore\n"
    experiment.names = lambda changes: {"a": int(changes.get("train.py", b"a = 0")[4:5])}
    (experiment.root / "train.py").write_text(text)

    found = repair(experiment)

    assert (found.repaired, found.is_suppressed, len(experiment.tried)) == (False, True, 1)


def test_a_run_that_cannot_be_made_is_raised(toy):
    experiment = toy({"a": [1]}, {})

    def refused(changes=None, at_most=None):
        raise RunError("no torch")

    experiment.run_with_provenance = refused

    with pytest.raises(RunError, match="no torch"):
        repair(experiment)
