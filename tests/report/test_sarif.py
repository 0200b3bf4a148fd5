"""What code scanning takes: how many results, how large, and what a log says of the rest."""

import gzip
import json
import pathlib
from dataclasses import replace

import jsonschema
import pytest

from devfix.model import Outcome, Severity, Span
from devfix.report import Mode, Report
from devfix.report.findings import sarif
from devfix.report.positions import SourceTexts
from devfix.report.view import View

SCHEMA = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8")
)


def log(outcome, mode=Mode.CHECK, proof=None):
    tried = replace(outcome, patch=type(outcome.patch)())
    document = json.loads(sarif.render(View(Report(outcome, mode), SourceTexts(tried.patch), tried, proof)))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document["runs"][0]


def many(resolutions, number):
    item = resolutions["not-fixed"]
    made = []
    for line in range(1, number + 1):
        severity = list(Severity)[line % 3]
        finding = replace(item.finding, span=Span(line, 0, line, 1), severity=severity)
        made.append(replace(item, finding=finding))
    return Outcome(tuple(made))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(sarif, "MAX_RESULTS", 10)


def test_the_most_severe_are_kept_and_the_others_are_counted(resolutions, few):
    run = log(many(resolutions, 24))

    assert [result["level"] for result in run["results"]] == ["error"] * 8 + ["warning"] * 2
    [told] = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("the 14 least severe results are omitted")


def test_a_log_is_cut_until_its_upload_is_small_enough(resolutions, monkeypatch):
    whole = log(many(resolutions, 300))
    most = len(gzip.compress(json.dumps(whole, separators=(",", ":")).encode(), 6)) - 1000
    monkeypatch.setattr(sarif, "MAX_BYTES", most)

    run = log(many(resolutions, 300))

    assert 0 < len(run["results"]) < len(whole["results"])
    assert len(gzip.compress(json.dumps(run, separators=(",", ":")).encode(), 6)) <= most
    left = 300 - len(run["results"])
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith(f"the {left} least severe results")


def test_one_of_each(outcome):
    run = log(outcome, Mode.APPLY)

    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("DEV201", "error"),
        ("DEV102", "warning"),
        ("DEV301", "note"),
    ]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [note["level"] for note in notes] == ["error", "note"]


def test_the_failing_line_is_the_first_use_and_the_others_are_steps(resolutions):
    item = resolutions["not-fixed"]
    again = replace(item.finding.events[-1], line=31, note="and again here")
    several = replace(item, finding=replace(item.finding, events=(*item.finding.events, again)))

    (result,) = log(Outcome((several,)))["results"]

    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 27
    assert related["message"]["text"] == "fails here"
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [18, 7, 27, 31]
