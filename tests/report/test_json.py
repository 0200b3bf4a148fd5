"""The JSON report against its published schema."""

import importlib.resources
import json

import jsonschema
import pytest

from devfix.model import Outcome
from devfix.report import Mode, Report
from devfix.report.findings.json import SCHEMA_VERSION, dumps


@pytest.fixture
def schema():
    text = importlib.resources.files("devfix").joinpath(f"schema/report-{SCHEMA_VERSION}.json").read_text("utf-8")
    return json.loads(text)


@pytest.mark.parametrize("mode", Mode)
def test_the_report_follows_its_schema(outcome, schema, mode):
    document = json.loads(dumps(Report(outcome, mode)))

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert document["mode"] == mode.value


def test_an_empty_report_follows_its_schema(schema):
    jsonschema.validate(json.loads(dumps(Report(Outcome(), Mode.CHECK))), schema)


def test_hidden_findings_are_counted(schema):
    document = json.loads(dumps(Report(Outcome(checked=1, hidden=2), Mode.CHECK)))

    jsonschema.validate(document, schema)
    assert document["summary"]["hidden"] == 2


def test_the_schema_refuses_what_it_does_not_know(outcome, schema):
    document = json.loads(dumps(Report(outcome, Mode.CHECK)))
    document["findings"][0]["status"] = "perhaps"

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_the_report_holds_the_story(outcome):
    document = json.loads(dumps(Report(outcome, Mode.APPLY)))

    fixed, fixable, not_fixed, suppressed = document["findings"]
    assert fixed["span"] == {"line": 23, "column": 5, "end_line": 23, "end_column": 11}
    assert [(event["path"], event["line"]) for event in fixed["events"]] == [
        ("train.py", 18),
        ("lib/data.py", 7),
        ("train.py", 27),
    ]
    assert fixed["fix"] == {"title": "move `labels` to `device`", "applicability": "safe", "files": ["train.py"]}
    assert fixable["fix"]["applicability"] == "unsafe"
    assert (not_fixed["fix"], not_fixed["reason"]) == (None, "the file is not yours")
    assert suppressed["status"] == "suppressed"
    assert document["problems"][0]["line"] == 3
    assert document["exit_code"] == 1
