"""One document a line: the report first, then what it lists."""

import json

from devfix.report.findings.json import document
from devfix.report.findings.jsonl import render


def test_the_lines_together_are_the_one_document(view):
    first, *others = map(json.loads, render(view).splitlines())

    whole = document(view.report)
    listed = {"findings": "finding", "problems": "problem", "notes": "note"}
    assert first == {"report": {key: value for key, value in whole.items() if key not in listed}}
    assert others == [{word: item} for key, word in listed.items() for item in whole[key]]
    assert [len(whole[key]) for key in listed] == [4, 1, 1]


def test_a_line_is_a_line_whatever_a_message_holds(view):
    assert len(render(view).splitlines()) == len(render(view).split("\n")) - 1 == 7
    assert render(view).isascii()
