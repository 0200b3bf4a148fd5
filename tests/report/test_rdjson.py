"""Diagnostics for reviewdog: columns in bytes, and suggestions of whole lines."""

import json

import pytest

from devfix.model import AppendCode, FileChange, Finding, Fix, Outcome, Patch, Resolution, Severity, Span, Status
from devfix.report import Mode, Report
from devfix.report.findings.rdjson import render
from devfix.report.positions import SourceTexts
from devfix.report.view import View


def diagnostics(view):
    return json.loads(render(view))["diagnostics"]


def test_columns_are_bytes_from_1(view):
    first = diagnostics(view)[0]

    assert first["location"]["range"] == {"start": {"line": 23, "column": 9}, "end": {"line": 23, "column": 15}}


def test_severities_codes_and_problems(view):
    found = diagnostics(view)

    assert [each["severity"] for each in found] == ["ERROR", "WARNING", "ERROR", "ERROR"]
    assert found[0]["code"]["value"] == "DEV101"
    assert found[0]["code"]["url"].startswith("https://")
    assert found[3] == {
        "message": "not valid utf-8: byte 0xe9; save it as UTF-8",
        "location": {"path": "odd.py", "range": {"start": {"line": 3}}},
        "severity": "ERROR",
    }


def suggested(*changes):
    """The suggestions for a finding whose fix makes these changes: path, old and new text."""
    edits = tuple(AppendCode(path, Span(1, 0, 1, 1), "") for path, _, _ in changes)
    fix = Fix("move it", edits)
    finding = Finding("DEV101", "", Severity.ERROR, "a.py", Span(1, 0, 1, 1), "", fixes=(fix,))
    patch = Patch(tuple(FileChange(path, old.encode(), new.encode()) for path, old, new in changes))
    outcome = Outcome((Resolution(finding, Status.FIXED, fix=fix),), patch)
    (found,) = diagnostics(View(Report(outcome, Mode.PREVIEW), SourceTexts(patch), outcome))
    return [
        (each["range"]["start"]["line"], each["range"]["end"], each["text"]) for each in found.get("suggestions", ())
    ]


def test_a_suggestion_replaces_whole_lines():
    assert suggested(("a.py", "é = 1\nf(é)\nb\n", "é = 1\nf(é.to(d))\nb\n")) == [
        (2, {"line": 2, "column": 6}, "f(é.to(d))")
    ]


FAR = "\n".join(map(str, range(40)))


@pytest.mark.parametrize(
    "changes",
    [
        [("a.py", "x\nlonger\n", "y\nlonger\n"), ("b.py", "a\nx\n", "a\ny\n")],
        [("a.py", f"x\n{FAR}\nz\n", f"y\n{FAR}\ny\n")],
    ],
    ids=["two files", "lines far apart"],
)
def test_half_of_a_fix_is_not_suggested(changes):
    assert suggested(*changes) == []
