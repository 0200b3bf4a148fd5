"""Notebooks as source files."""

import json
import sys

import pytest
from made_notebooks import HEAD_REPLACED, cell, document, dumped, notebook

from devfix import sources
from devfix.sources import SourceError


def test_a_notebook_without_torch_is_not_parsed():
    file = sources.decode("a.ipynb", b"no JSON at all")

    assert (file.text, file.cells, file.problems) == ("", None, ())


def test_a_notebook_is_a_program_and_goes_back_byte_for_byte():
    raw = notebook(*HEAD_REPLACED)
    file = sources.decode("a.ipynb", raw)

    assert sources.encode(file, file.text) == raw
    assert sources.encode(file, file.text.replace("nn.Linear(8, 2)", "nn.Linear(8, 3)")) == raw.replace(
        b"8, 2", b"8, 3"
    )


@pytest.mark.parametrize("change", [lambda raw: b"\xef\xbb\xbf" + raw, lambda raw: raw.replace(b"\n", b"\r\n")])
def test_marks_and_line_ends_stay(change):
    raw = change(notebook(*HEAD_REPLACED))
    file = sources.decode("a.ipynb", raw)

    new = sources.encode(file, file.text.replace("model.to(device);", "model.to(device);\nx = 1"))

    assert json.loads(new.decode("utf-8-sig"))["cells"][1]["source"][-2:] == ["model.to(device);\n", "x = 1"]
    assert new.startswith(raw[:200]) and new.endswith(raw[-200:])


def test_one_of_another_language_is_left_alone():
    file = sources.decode("a.ipynb", notebook("library(torch)", metadata={"kernelspec": {"name": "ir"}}))

    assert file.text == ""
    assert [note.message for note in file.notes] == ["a notebook of R, left alone"]


@pytest.mark.parametrize(
    ("raw", "told", "line"),
    [
        (b'{"torch"', "is no valid JSON: Expecting ':' delimiter", 1),
        (b'{\n"torch\xff"', "not valid utf-8, as JSON has to be", 2),
        (notebook("torch\uf7d0"), "holds private characters", 0),
    ],
)
def test_what_cannot_be_read_is_one_problem(raw, told, line):
    with pytest.raises(SourceError) as caught:
        sources.decode("a.ipynb", raw)

    assert caught.value.problem.message.startswith(told)
    assert caught.value.problem.line == line


def test_what_nbformat_minds_is_a_note():
    made = document(cell("import torch", id="a"), cell("x", id="a"), nbformat_minor=5)
    del made["cells"][1]["outputs"]
    file = sources.decode("a.ipynb", dumped(made))

    assert [note.message for note in file.notes] == [
        "not valid by nbformat: cells/1: 'outputs' is a required property",
        "several cells have the id 'a'",
    ]
    assert file.text


def test_a_valid_notebook_has_no_notes():
    for minor in range(5):
        assert sources.decode("a.ipynb", notebook("import torch", nbformat_minor=minor)).notes == ()
    assert sources.decode("a.ipynb", notebook(cell("import torch", id="a"), nbformat_minor=5)).notes == ()


def test_without_nbformat_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "nbformat", None)
    monkeypatch.chdir(tmp_path)
    for name in ("a.ipynb", "b.ipynb"):
        (tmp_path / name).write_bytes(notebook("import torch"))
    (tmp_path / "c.py").write_text("import torch\n")
    (tmp_path / "d.ipynb").write_bytes(notebook("x"))

    files, problems = sources.load(["."])
    _, named = sources.load(["a.ipynb"])

    assert problems == ()
    assert [note.message for file in files for note in file.notes] == [
        "left out, and so are 1 more: cannot be read without nbformat"
    ]
    assert sorted(file.path for file in files if not file.notes) == ["c.py", "d.ipynb"]
    assert [problem.hint for problem in named] == ["pip install 'devfix[notebook]'"]
