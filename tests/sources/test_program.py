"""Cells as one program, and edits of the program in the cells."""

import json
import time

import pytest
from made_notebooks import cell, document

from devfix import sources
from devfix.sources.notebooks._document import read_document
from devfix.sources.notebooks._program import Misplaced, cells_in, place_in, program_of, sources_of

CELLS = document(cell("# T", "markdown"), "!ls\nx = 1\n", cell("y = 2", count=4), "%%time\nz = 3", "")
TEXT = json.dumps(CELLS, indent=1)


@pytest.fixture
def read():
    return read_document(TEXT)


def test_lines_of_the_program_are_lines_of_cells(read):
    program = program_of("a.ipynb", read)
    lines = program.text.split("\n")

    for number, line, text in [(2, 2, "x = 1"), (3, 1, "y = 2"), (4, 2, "z = 3")]:
        at = lines.index(text) + 1
        assert program.cells.place(at) == (number, line) == place_in(program.text, at)
        assert text in TEXT.split("\n")[program.cells.line_in_file(at) - 1]
    assert program.cells.cell(lines.index("y = 2") + 1).count == 4
    assert program.cells.place(1) == (2, 1), "the line that names a cell is its first"
    assert program.cells.place(0) is None and program.cells.line_in_file(0) == 0


def test_an_unedited_program_changes_nothing(read):
    assert sources_of(read, program_of("a.ipynb", read).text) == {}


def test_edits_go_where_they_stand(read):
    text = program_of("a.ipynb", read).text.replace("x = 1\n", "x = 1\nw = 0\n").replace("y = 2", "y = x")

    assert sources_of(read, text) == {2: "!ls\nx = 1\nw = 0\n", 3: "y = x"}
    assert cells_in(text, program_of("a.ipynb", read).cells).place(text.split("\n").index("y = x") + 1) == (3, 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# %% [cell 3]", "# gone", "border of two cells"),
        ("# %% [cell 2]", "import a\n# %% [cell 2]", "ahead of the first cell"),
        ("y = 2", "# y = 2", "leave nothing in cell 3"),
        ("pass  ", "", "IPython's in cell"),
    ],
)
def test_edits_that_no_cell_can_take_are_refused(read, old, new, told):
    text = program_of("a.ipynb", read).text.replace(old, new)

    with pytest.raises(Misplaced, match=told):
        sources_of(read, text)


def test_nothing_comes_ahead_of_the_magic_of_a_cell(read):
    lines = program_of("a.ipynb", read).text.split("\n")
    at = next(number for number, line in enumerate(lines) if "%%time" in line)

    with pytest.raises(Misplaced, match="ahead of %%time in cell 4"):
        sources_of(read, "\n".join([*lines[:at], "w = 0", *lines[at:]]))


def test_commands_do_not_go_from_cell_to_cell(read):
    text = program_of("a.ipynb", read).text
    line = next(line for line in text.split("\n") if line.endswith("!ls"))

    with pytest.raises(Misplaced, match="IPython's in cell 2"):
        sources_of(read, text.replace(line + "\n", "").replace("y = 2", f"y = 2\n{line}"))


def test_a_cell_that_is_no_python_leaves_the_others_and_its_names():
    program = program_of("a.ipynb", read_document(json.dumps(document("x = 1", "model = (", "y = 2"))))

    assert [(program.cells.place(line), told) for line, told in program.errors] == [((2, 1), "'(' was never closed")]
    assert [each.unclear for each in program.cells.cells] == ["", "cannot be parsed", ""]
    assert program.cells.cells[1].words == {"model"}


def test_a_source_of_one_string_lies_on_one_line():
    text = json.dumps(document(cell("") | {"source": "a\nb"}), indent=1)
    program = program_of("a.ipynb", read_document(text))

    assert {program.cells.line_in_file(line) for line in (2, 3)} == {text.count("\n", 0, text.index('"a')) + 1}


def test_other_texts_have_no_cells():
    assert place_in("x = 1\n", 1) is None


def test_a_notebook_of_many_cells_is_read_in_linear_time():
    one = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "import torch\n" * 9}
    cells = [{**one, "id": f"c{number}"} for number in range(20_000)]
    raw = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()
    started = time.thread_time()

    file = sources.decode("many.ipynb", raw)

    assert file.cells is not None
    assert time.thread_time() - started < 10
