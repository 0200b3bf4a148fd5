"""A migration as one SARIF log, against its schema."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import replace

import jsonschema
import migrations
import pytest

from devfix.report.migrations import sarif

ROOT = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tests" / "data" / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8"))


def runs(text):
    document = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document["runs"]


def log(records):
    parts = sarif.BETWEEN.join(map(sarif.run, records))
    return runs(sarif.opening() + parts + sarif.CLOSING)


def test_there_is_a_run_for_each_repository():
    records = migrations.one_of_each()

    found = log(records)

    assert [run["properties"]["outcome"] for run in found] == [record.outcome.value for record in records]
    assert [len(run["results"]) for run in found] == [len(record.findings) for record in records]
    assert len({run["automationDetails"]["id"] for run in found}) == len(records)
    for run, record in zip(found, records, strict=True):
        assert run["invocations"][0]["executionSuccessful"] == (record.outcome.value != "failed")
        assert run["versionControlProvenance"][0].get("revisionId", "") == record.commit
        for result in run["results"]:
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_no_repository_is_a_valid_log():
    assert log([]) == []


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://example.org/a.git", "https://example.org/a.git"),
        ("git@example.org:lab/a b.git", "ssh://git@example.org/lab/a%20b.git"),
        ("/home/ann/nets", "file:///home/ann/nets"),
    ],
)
def test_a_repository_is_named_by_its_address(repository, address):
    [run] = log([replace(migrations.one_of_each()[0], repository=repository)])

    assert run["versionControlProvenance"][0]["repositoryUri"] == address


def test_hostile_records_are_a_valid_log():
    log([migrations.hostile(0)])


@pytest.mark.thorough
def test_the_command_writes_it(tmp_path):
    repository = tmp_path / "nets"
    case = ROOT / "corpus" / "batch_not_moved" / "nested_tuple" / "broken" / "siamese.py"
    repository.mkdir()
    (repository / "siamese.py").write_bytes(case.read_bytes())
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "nets"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    shutil.copytree(repository, tmp_path / "other")
    (tmp_path / "list").write_text(f"{repository}\n{tmp_path / 'other'} no-such-branch\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "devfix", "migrate", "list", "--output-format", "sarif", "--jobs", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DEVFIX_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout, done.stderr
    repaired, failed = runs(done.stdout)
    assert [result["ruleId"] for result in repaired["results"]] == ["DEV101"]
    assert repaired["properties"]["patch"] == "patches/nets.patch"
    assert not failed["invocations"][0]["executionSuccessful"] and done.returncode == 1
