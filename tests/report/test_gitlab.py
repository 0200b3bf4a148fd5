"""Code Quality: what GitLab shows, and by what it knows an issue again."""

import json
from dataclasses import replace

from devfix.model import Outcome
from devfix.report.findings.gitlab import render
from devfix.report.positions import SourceTexts


def test_what_is_listed_and_problems_are_issues(view):
    issues = json.loads(render(view))

    assert [(issue["check_name"], issue["severity"]) for issue in issues] == [
        ("DEV101", "critical"),
        ("DEV102", "major"),
        ("DEV201", "critical"),
        ("problem", "major"),
    ]
    assert issues[0]["location"] == {"path": "train.py", "lines": {"begin": 23, "end": 23}}
    assert issues[0]["description"].endswith("`labels` stays on the CPU; fails at train.py:27")
    assert issues[3]["description"] == "not valid utf-8: byte 0xe9; save it as UTF-8"


def test_issues_have_names_of_their_own_that_do_not_change_where_lines_move(view):
    names = [issue["fingerprint"] for issue in json.loads(render(view))]
    with open("train.py", encoding="utf-8") as file:
        text = file.read()
    with open("train.py", "w", encoding="utf-8") as file:
        file.write(f"\n{text}")

    def moved(item):
        span = replace(item.finding.span, line=24, end_line=24)
        return replace(item, finding=replace(item.finding, span=span))

    outcome = view.report.outcome
    outcome = replace(outcome, resolutions=tuple(map(moved, outcome.resolutions)))
    after = replace(view, report=replace(view.report, outcome=outcome), texts=SourceTexts(outcome.patch))

    assert len(set(names)) == 4
    assert [issue["fingerprint"] for issue in json.loads(render(after))] == names


def test_nothing_is_an_empty_list(view):
    assert render(replace(view, report=replace(view.report, outcome=Outcome()))) == "[]\n"
