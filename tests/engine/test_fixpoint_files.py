"""The engine over several files, and over such as cannot be read or followed."""

from __future__ import annotations

import pytest
from engine_programs import BATCH, CLEAN, HEAD, IMPORTS, LOAD, OPTIMIZER, settings, texts, told, with_rules

from devfix import sources
from devfix.engine.fixpoint import apply, check
from devfix.model import Status
from devfix.rules import registry

PARTS = {
    "models": "from torch import nn\n\n\ndef build(device):\n"
    "    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)\n"
    "    model[1] = nn.Linear(8, 3)\n    return model\n",
    "train": 'import torch\n\nfrom models import build\n\ndevice = torch.device("cuda")\n'
    "model = build(device)\nmodel(torch.randn(2, 4, device=device)).sum().backward()\n",
}


def test_an_edit_that_belongs_in_another_file_is_reported_with_the_command(write):
    outcome = apply(write(**PARTS)[1:], settings())

    assert told(outcome) == [("DEV201", "models.py", Status.NOT_FIXED)]
    assert "models.py" in outcome.resolutions[0].reason
    assert "devfix apply models.py" in outcome.resolutions[0].reason
    assert outcome.patch.files == ()


def test_it_is_made_when_that_file_is_given_too(write):
    outcome = apply(write(**PARTS), settings())

    assert told(outcome) == [("DEV201", "models.py", Status.FIXED)]
    assert list(texts(outcome)) == ["models.py"]


def test_a_cause_that_two_programs_share_is_one_finding(write):
    outcome = apply(write(**PARTS, again=PARTS["train"]), settings())

    assert told(outcome) == [("DEV201", "models.py", Status.FIXED)]


def test_the_command_that_is_named_does_it(write):
    files = write(**PARTS)
    (resolution,) = apply(files[1:], settings()).resolutions
    named = resolution.reason.rsplit("devfix apply ", 1)[1].split()
    outcome = apply([sources.read(name) for name in [*named, "train.py"]], settings())

    assert {item.status for item in outcome.resolutions} == {Status.FIXED}


# pytest-xdist's own thread is what Python 3.12 warns of where processes fork
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def many(write):
    kinds = {
        "head": HEAD,
        "batch": BATCH,
        "load": LOAD,
        "optimizer": OPTIMIZER,
        "clean": CLEAN,
        "bad": "def (:\n# torch\n",
    }
    return write(**{f"{kind}{number}": text for number in range(3) for kind, text in kinds.items()}, **PARTS)


@forks
def test_the_outcome_is_the_same_for_any_number_of_workers(write):
    files = many(write)

    alone, together = apply(files, settings(), jobs=1), apply(files, settings(), jobs=4)
    assert alone == together
    assert len(alone.resolutions) == 13
    assert len(alone.problems) == 3


@forks
def test_the_outcome_is_the_same_for_any_order_of_the_files(write):
    files = many(write)

    assert apply(files, settings()) == apply(files[::-1], settings())
    assert check(files, settings(), jobs=2) == check(files[::-1], settings(), jobs=1)


def test_the_outcome_is_sorted_by_path_and_position(write):
    outcome = apply(many(write), settings())
    positions = [(item.finding.path, item.finding.span) for item in outcome.resolutions]

    assert positions == sorted(positions)
    assert [change.path for change in outcome.patch.files] == sorted(change.path for change in outcome.patch.files)
    assert [problem.path for problem in outcome.problems] == ["bad0.py", "bad1.py", "bad2.py"]


def test_a_file_that_cannot_be_parsed_is_one_problem_and_the_rest_is_done(write):
    outcome = apply(write(bad="import torch\nfor\n", train=HEAD), settings())

    assert [(problem.path, problem.line) for problem in outcome.problems] == [("bad.py", 2)]
    assert "cannot be parsed" in outcome.problems[0].message
    assert list(texts(outcome)) == ["train.py"]


def test_a_crash_of_a_rule_is_one_problem_of_that_file_and_the_rest_is_done(write, monkeypatch):
    monkeypatch.delenv("DEVFIX_TRACEBACK", raising=False)
    original = registry.rule_for("DEV201").detect

    def detect(facts):
        if facts.path == "odd.py":
            raise ZeroDivisionError("oops")
        return original(facts)

    with_rules(monkeypatch, DEV201=detect)
    outcome = apply(write(odd=HEAD, train=HEAD), settings())

    assert [problem.path for problem in outcome.problems] == ["odd.py"]
    assert "ZeroDivisionError" in outcome.problems[0].message
    assert told(outcome) == [("DEV201", "train.py", Status.FIXED)]


def test_a_crash_while_an_edit_is_tried_drops_the_edit(write, monkeypatch):
    monkeypatch.delenv("DEVFIX_TRACEBACK", raising=False)
    original = registry.rule_for("DEV201").detect
    calls = []

    def detect(facts):
        calls.append(facts)
        if len(calls) > 1:
            raise ZeroDivisionError("oops")
        return original(facts)

    with_rules(monkeypatch, DEV201=detect)
    outcome = apply(write(train=HEAD), settings())

    assert outcome.patch.files == ()
    assert told(outcome) in ([("DEV201", "train.py", Status.NOT_FIXED)], [])
    assert outcome.problems or outcome.resolutions


def test_deep_nesting_is_no_traceback(write):
    deep = IMPORTS + "x = " + "(" * 80 + "1" + ")" * 80 + "\n" + HEAD

    assert told(apply(write(train=deep), settings())) == [("DEV201", "train.py", Status.FIXED)]
