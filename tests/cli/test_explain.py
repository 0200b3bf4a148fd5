"""``devfix explain`` and ``devfix rules``."""

import json

import pytest


@pytest.mark.parametrize("word", ["DEV101", "dev101", "bug"])
def test_a_rule_is_explained_by_code_or_name(run, word):
    result = run("explain", word)

    assert result.code == 0
    assert result.stdout.decode().splitlines() == [
        "DEV101 bug: finds bug",
        "",
        "WHAT IT DOES",
        "",
        "Finds bug.",
        "",
        "    x = 1",
    ]


def test_markdown_is_the_documentation(run):
    assert run("explain", "DEV101", "--format", "md").stdout.decode().startswith("# DEV101 bug\n\n## What it does\n")


def test_json(run):
    document = json.loads(run("explain", "DEV101", "--format", "json").stdout)

    assert (document["code"], document["name"], document["summary"]) == ("DEV101", "bug", "finds bug")


def test_an_unknown_rule_is_2(run):
    result = run("explain", "DEV102")

    assert result.code == 2
    assert "unknown rule 'DEV102'; did you mean 'DEV101'?" in result.stderr


def test_rules_are_listed(run):
    assert run("rules").stdout.decode().splitlines() == [
        "DEV101  bug    finds bug",
        "DEV201  risky  finds risky",
        "DEV301  stuck  finds stuck",
    ]
    assert [row["code"] for row in json.loads(run("rules", "--format", "json").stdout)] == [
        "DEV101",
        "DEV201",
        "DEV301",
    ]
