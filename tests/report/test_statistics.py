"""How often each rule was found, the most frequent first, and what of it has a safe fix."""

import json
from dataclasses import replace

import pytest

from devfix.model import Coverage
from devfix.report.findings.statistics import counts, dumps, lines


@pytest.fixture
def many(view):
    """DEV101 three times, one of them without a fix; the others once."""
    fixed, fixable, stuck, suppressed = view.report.outcome.resolutions
    again = replace(stuck, finding=replace(stuck.finding, code="DEV101"))
    outcome = replace(view.report.outcome, resolutions=(suppressed, stuck, fixable, fixed, fixed, again))
    return replace(view, report=replace(view.report, outcome=outcome))


def test_rules_are_counted_without_what_is_suppressed(many):
    assert [(row.code, row.count, row.fixable) for row in counts(many)] == [
        ("DEV101", 3, 2),
        ("DEV102", 1, 0),
        ("DEV201", 1, 0),
    ]


def test_a_mark_says_whether_all_some_or_none_have_a_safe_fix(many, view):
    assert list(lines(many)) == [
        "3\tDEV101\t[-] batch-not-moved",
        "1\tDEV102\t[ ] batch-not-moved",
        "1\tDEV201\t[ ] batch-not-moved",
    ]
    assert next(lines(view)) == "1\tDEV101\t[*] batch-not-moved"


def test_the_document_holds_the_same(many):
    found = json.loads(dumps(many))

    assert found["exit_code"] == many.report.exit_code == 1
    assert found["statistics"][0] == {"code": "DEV101", "name": "batch-not-moved", "count": 3, "fixable": 2}


def test_functions_are_counted_by_what_became_of_them(view):
    outcome = replace(view.report.outcome, coverage={Coverage.ANALYSED: 12, Coverage.TRANSPARENT: 3})
    known = replace(view, report=replace(view.report, outcome=outcome))

    assert list(lines(known))[-2:] == [
        "12\tfunctions\tanalysed",
        " 3\tfunctions\tleft out: nothing in it can make a difference between devices",
    ]
    assert json.loads(dumps(known))["functions"] == {"analysed": 12, "transparent": 3}
