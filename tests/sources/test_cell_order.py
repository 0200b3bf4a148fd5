"""Notebooks through the engine: what their cells mean for findings."""

import json
from dataclasses import replace

import pytest
from made_notebooks import HEAD_REPLACED, cell, document, dumped, notebook

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Status

DEFAULT = Settings()
REPAIRED = "model[1] = nn.Linear(8, 2)\nmodel.to(device)"


def apply(raw, path="a.ipynb", settings=DEFAULT):
    return fixpoint.apply([sources.decode(path, raw)], settings)


def cells_of(change):
    return ["".join(each["source"]) for each in json.loads(change.new)["cells"]]


def counted(*counts):
    return notebook(*(cell(source, count=count) for source, count in zip(HEAD_REPLACED, counts, strict=True)))


def test_the_edit_lands_in_the_cell_and_the_rest_stays():
    raw = notebook(*HEAD_REPLACED)
    (change,) = apply(raw).patch.files

    assert cells_of(change) == [*HEAD_REPLACED[:2], REPAIRED, HEAD_REPLACED[3]]
    assert change.new == raw.replace(b'nn.Linear(8, 2)"', b'nn.Linear(8, 2)\\n",\n    "model.to(device)"')


def test_places_are_cells_and_lines_in_them():
    outcome = apply(notebook(cell("# Title", "markdown"), *HEAD_REPLACED))
    (item,) = outcome.resolutions

    assert outcome.where(item.finding.path, item.finding.span.line) == "a.ipynb:cell 4:1"
    assert [outcome.place(event.path, event.line) for event in item.finding.events][:2] == [(3, 3), (4, 1)]
    assert outcome.where("b.py", 3) == "b.py:3" and outcome.where("a.ipynb", 0) == "a.ipynb"
    assert outcome.line_in_file("b.py", 3) == 3


@pytest.mark.parametrize("counts", [(1, 2, 3, 4), (None,) * 4, (1, 5, 9, 12), (None, 3, 4, None), (9, 2, 3, 4)])
def test_cells_that_ran_in_their_order_are_repaired(counts):
    (item,) = apply(counted(*counts)).resolutions

    assert item.status is Status.FIXED


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((1, 9, 3, 4), "cell 3 was last run before cell 2 (execution counts 3 and 9)"),
        ((1, 5, None, 2), "cell 4 was last run before cell 2 (execution counts 2 and 5)"),
    ],
)
def test_cells_that_ran_in_another_order_are_told_and_left(counts, told):
    outcome = apply(counted(*counts))
    (item,) = outcome.resolutions

    assert (item.status, outcome.patch.files) == (Status.NOT_FIXED, ())
    assert item.reason.startswith(told)


def test_a_cell_that_is_no_python_is_a_problem_and_the_others_are_read():
    outcome = apply(notebook(*HEAD_REPLACED, "def f(:\n    pass"))
    (problem,) = outcome.problems

    assert outcome.where(problem.path, problem.line) == "a.ipynb:cell 5:1"
    assert problem.message == "cannot be parsed: invalid syntax"
    assert [item.status for item in outcome.resolutions] == [Status.FIXED]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("model = model.to(device", "cell 5 cannot be parsed, and speaks of `device`"),
        (
            "%%with_care\nmodel = model.cpu()",
            "cell 5 is under %%with_care, which is not followed, and speaks of `model`",
        ),
    ],
)
def test_nothing_is_edited_where_a_cell_that_is_not_followed_may_matter(source, told):
    outcome = apply(notebook(*HEAD_REPLACED, source))
    (item,) = outcome.resolutions

    assert (item.status, item.reason, outcome.patch.files) == (Status.NOT_FIXED, told, ())


CHOICE = "import torch\nfrom torch import nn\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')"


def test_a_section_that_imports_anew_gets_no_name_of_another():
    first = "model = nn.Linear(4, 2).to(device)\nmodel(torch.randn(8, 4).to(device)).sum().backward()"
    section = "import torch\nfrom torch import nn\nother = nn.Linear(4, 2).to('cuda')"
    alone = apply(notebook(CHOICE, first, section))
    together = apply(notebook(CHOICE, first, section.split("\n")[-1]))

    assert [item.status for item in together.resolutions] == [Status.FIXED]
    assert [item.status for item in alone.resolutions] == [Status.NOT_FIXED]
    assert alone.resolutions[0].reason.startswith("cell 3 imports torch anew")


def test_timed_lines_are_followed_and_told_as_they_stand():
    cells = ["import torch\nfrom torch import nn", "model = nn.Linear(4, 2)\n%time model = model.cuda()"]
    outcome = apply(notebook(*cells, "x = torch.randn(8, 4)\n%time print(model(x))"))
    (item,) = outcome.resolutions

    assert item.status is Status.FIXED
    assert "%time print(model(x))" in [event.source for event in item.finding.events]


@pytest.mark.parametrize("comment", ["# devfix: ignore[DEV201]", "# noqa: DEV201", "# devfix: ignore"])
def test_comments_in_cells_suppress(comment):
    cells = [*HEAD_REPLACED]
    cells[2] += f"  {comment}"
    (item,) = apply(notebook(*cells)).resolutions

    assert item.status is Status.SUPPRESSED


def test_a_cell_can_leave_the_whole_notebook_alone():
    assert apply(notebook("# devfix: skip-file", *HEAD_REPLACED)).resolutions == ()


def test_a_notebook_imports_the_project(tmp_path):
    (tmp_path / "parts.py").write_text("from torch import nn\n\n\ndef head():\n    return nn.Linear(8, 2)\n")
    cells = [HEAD_REPLACED[0] + "\nfrom parts import head", HEAD_REPLACED[1], "model[1] = head()", HEAD_REPLACED[3]]
    (change,) = apply(notebook(*cells), str(tmp_path / "a.ipynb")).patch.files

    assert cells_of(change)[2] == "model[1] = head()\nmodel.to(device)"


def test_what_is_repaired_stays_repaired():
    (change,) = apply(notebook(*HEAD_REPLACED)).patch.files
    again = apply(change.new)

    assert (again.resolutions, again.patch.files, again.problems, again.notes) == ((), (), (), ())


def test_old_formats_are_repaired():
    values = document(*HEAD_REPLACED)
    sheet = [
        {"cell_type": "code", "input": each["source"], "language": "python", "outputs": [], "metadata": {}}
        for each in values["cells"]
    ]
    old = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": sheet, "metadata": {}}],
    }
    (change,) = apply(dumped(old)).patch.files

    assert "".join(json.loads(change.new)["worksheets"][0]["cells"][2]["input"]) == REPAIRED


def test_unsafe_and_severity_hold_for_notebooks_too():
    raw = notebook(*HEAD_REPLACED)

    assert apply(raw, settings=replace(Settings(), ignore=("DEV201",))).resolutions == ()
