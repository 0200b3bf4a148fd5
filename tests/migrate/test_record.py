"""A record against its published schema, there and back."""

import importlib.resources
import json
import math

import jsonschema
import pytest

from devfix.migrate.record import (
    MOST_LOSSES,
    SCHEMA_VERSION,
    Record,
    RecordError,
    RepositoryOutcome,
    every_nth,
)
from devfix.verify.verdict import VERDICTS


def read(name):
    return json.loads(importlib.resources.files("devfix").joinpath(f"schema/{name}.json").read_text("utf-8"))


@pytest.fixture
def schema():
    return read("record-2")


def test_a_record_follows_its_schema(record, schema):
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(json.loads(record.line()), schema)
    assert set(record.to_document()) == set(schema["properties"]) == set(schema["required"])


def test_the_smallest_record_follows_it_too(task, schema):
    jsonschema.validate(task.failed("fetch", "no such repository").to_document(), schema)


@pytest.mark.parametrize(("key", "value"), [("outcome", "perhaps"), ("commit", "main"), ("stage", "lunch")])
def test_the_schema_refuses_what_it_does_not_know(record, schema, key, value):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**record.to_document(), key: value}, schema)


def test_its_words_are_those_of_the_code(schema):
    properties, definitions = schema["properties"], schema["$defs"]

    assert properties["outcome"]["enum"] == [outcome.value for outcome in RepositoryOutcome]
    assert definitions["verdict"]["properties"]["status"]["enum"] == list(VERDICTS)
    assert properties["schema_version"]["const"] == SCHEMA_VERSION
    report = read("report-2")["$defs"]
    shared = ("finding", "span", "event", "fix", "problem")
    assert {name: definitions[name] for name in shared} == {name: report[name] for name in shared}


def test_a_line_comes_back_as_the_record_that_it_was(record):
    line = record.line()
    again = Record.from_line(line)

    assert "\n" not in line and line.isascii()
    losses = again.verdict.runs["original/cpu"].losses
    assert (losses[0], math.isnan(losses[1]), losses[2]) == (1.5, True, 0.25)
    assert again.patch.encode("utf-8", "surrogateescape").splitlines()[3] == b"-old \xe9"
    assert again.line() == line
    assert (again.published, again.findings, again.outcome) == (record.published, record.findings, record.outcome)


@pytest.mark.parametrize(
    "line",
    ["", "[]", "not json", '{"schema_version": 1}', '{"schema_version": 2}'],
    ids=["empty", "list", "text", "keys missing", "other version"],
)
def test_what_is_no_record_is_refused(line):
    with pytest.raises(RecordError):
        Record.from_line(line)


def test_a_key_that_nobody_knows_is_refused(record):
    with pytest.raises(RecordError, match="unexpected"):
        Record.from_document({**record.to_document(), "mood": "fine"})


@pytest.mark.parametrize("number", [0, 1, MOST_LOSSES, MOST_LOSSES + 1, 12_345])
def test_losses_are_thinned_evenly_and_the_last_one_stays(number):
    losses = tuple(float(index) for index in range(number))

    kept, stride = every_nth(losses)

    assert len(kept) <= MOST_LOSSES + 1
    assert kept[:-1] == losses[::stride][: len(kept) - 1]
    assert kept[-1:] == losses[-1:]
