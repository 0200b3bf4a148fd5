"""Findings of notebooks in the lines of their files."""

import pytest
from made_notebooks import HEAD_REPLACED, notebook

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Problem
from devfix.report import Mode, Report
from devfix.report.notebook_positions import to_file_positions
from devfix.report.positions import SourceTexts
from devfix.report.view import View

RAW = notebook(*HEAD_REPLACED, "x = (")


def view_of(name, raw):
    file = sources.decode(name, raw)
    tried = fixpoint.apply([file], Settings())
    return View(Report(tried, Mode.PREVIEW), SourceTexts(tried.patch, [file]), tried)


@pytest.fixture
def view():
    return view_of("a.ipynb", RAW)


def test_findings_events_and_problems_stand_in_the_file(view):
    lines = RAW.decode().split("\n")
    told = to_file_positions(view)
    (item,) = told.report.outcome.resolutions
    span = item.finding.span

    assert lines[span.line - 1][span.column : span.end_column] == "model[1] = nn.Linear(8, 2)"
    assert item.finding.message.startswith("cell 3, line 1: `model[1]` is attached")
    for event in item.finding.events:
        assert event.source in lines[event.line - 1]
    assert ["x = (" in lines[problem.line - 1] for problem in told.report.outcome.problems] == [True]
    assert told.report.outcome.notebooks == ()


def test_a_fix_replaces_text_of_the_file(view):
    told = to_file_positions(view)
    suggestion = told.suggestions.of(told.preview.resolutions[0].finding)
    (replacement,) = suggestion.replacements
    text = told.texts.lines("a.ipynb").text

    assert text == RAW.decode()
    new = text[: replacement.start] + replacement.text + text[replacement.end :]
    assert new.encode() == view.preview.patch.files[0].new


def test_python_files_stay_as_they_are():
    view = view_of("a.py", b"import torch\n")

    assert to_file_positions(view) is view


def test_a_problem_without_a_line_has_none(view):
    assert view.report.outcome.line_in_file("a.ipynb", Problem("a.ipynb", "told").line) == 0
