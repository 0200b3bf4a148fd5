"""IPython's syntax, the Python in its place, and the way back."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devfix.sources.notebooks._magics import as_written, original, read_cell, reserved, taken_back

ESCAPED = {
    "a shell line": "!pip install torch",
    "an indented one": "if True:\n    !mkdir -p data\n    x = 1",
    "of several lines": "!pip install \\\n    torch \\\n    numpy\nx = 1",
    "a magic": "%matplotlib inline\nimport torch",
    "output of the shell": "files = !ls data/*.pt\nprint(files)",
    "output of a magic": "t = %timeit -o f()\nprint(t)",
    "two names": "a, b = !ls",
    "help": "torch.nn.Linear?",
    "help ahead": "?torch.nn",
    "the source": "model.forward??",
    "automatic": "pip install torch",
    "a folder": "cd data",
    "windows": "!ls\r\nx = 1\r\n%time f()\r",
    "a timed statement": "%time loss = train(model)",
    "with options": "%timeit -n 10 -r 3 f(x)",
    "quick call": ",print a b",
}
AS_IT_IS = {
    "python": "x = 1\nfor i in range(3):\n    print(i);",
    "await": "await fetch()",
    "a string": 'text = """\n!ls\n%time\n"""',
    "brackets": "x = ('%d'\n% 3)",
    "a comment": "# !ls\n# what?",
    "modulo": "x = 7 \\\n  % 3",
    "inequality": "if a != b:\n    pass",
    "names of commands": "ls = [1]\ncat = ls\ncd(ls)",
}


@pytest.mark.parametrize("source", ESCAPED.values(), ids=ESCAPED)
def test_a_stand_in_is_python_line_for_line_and_can_be_taken_back(source):
    cell = read_cell(source)

    ast.parse(cell.text)
    assert cell.error is None
    assert cell.text.count("\n") == source.count("\n")
    assert taken_back(cell.text) == source


@pytest.mark.parametrize("source", AS_IT_IS.values(), ids=AS_IT_IS)
def test_python_stays_as_it_is(source):
    assert read_cell(source) == (source, "", None)
    assert read_cell(f"!ls\n{source}").text.split("\n", 1)[1] == source


def test_nothing_is_known_of_what_a_command_gives():
    assert read_cell("x = !ls").text.startswith("x = get_ipython()  #")


def test_timed_code_is_followed_in_its_own_columns():
    text = read_cell("%timeit -n 10 f(x)").text

    assert text.index("f(x)") == len("%timeit -n 10 ")
    assert ast.unparse(ast.parse(text)) == "pass\nf(x)"


def test_an_edit_of_timed_code_is_kept():
    text = read_cell("%time f(x)").text

    assert taken_back(text.replace("f(x)", "f(x.to(device))")) == "%time f(x.to(device))"


@pytest.mark.parametrize("change", [("pass;", "go()"), ("pass; ", "")])
def test_a_stand_in_that_was_edited_is_an_error(change):
    with pytest.raises(ValueError, match="f"):
        taken_back(read_cell("%time f(x)").text.replace(*change))
    with pytest.raises(ValueError, match="ls"):
        original(read_cell("x = !ls").text.replace("x =", "y =", 1))


@pytest.mark.parametrize("magic", ["time", "capture out", "prun -s time"])
def test_cells_that_ipython_runs_here_are_followed(magic):
    cell = read_cell(f"%%{magic}\n!ls\nmodel.to(device)")

    assert ast.unparse(ast.parse(cell.text)) == "pass\npass\nmodel.to(device)"
    assert cell.unclear == ""


@pytest.mark.parametrize("magic", ["bash", "html", "writefile train.py", "javascript", "script false", "R"])
def test_cells_of_others_are_not(magic):
    cell = read_cell(f"%%{magic}\nmodel = 3\necho hi")

    assert ast.unparse(ast.parse(cell.text)) == "pass"
    assert taken_back(cell.text) == f"%%{magic}\nmodel = 3\necho hi"
    assert cell.unclear == ""


def test_what_timeit_binds_stays_inside():
    assert "f(x)" in ast.unparse(ast.parse(read_cell("%%timeit\nf(x)").text))
    assert ast.unparse(ast.parse(read_cell("%%timeit\nmodel = model.cpu()").text)) == "pass"


def test_a_magic_that_nobody_knows_makes_its_python_unclear():
    assert read_cell("%%with_care\nmodel.cpu()").unclear == "%%with_care"
    assert read_cell("%%with_care\nno python at all").unclear == ""


def test_a_cell_that_is_no_python_tells_where():
    cell = read_cell("x = 1\ndef f(:\n    pass")

    assert cell.error == ("invalid syntax", 2)
    assert ast.unparse(ast.parse(cell.text)) == "pass"
    assert taken_back(cell.text) == "x = 1\ndef f(:\n    pass"


def test_the_line_of_an_error_counts_from_the_magic_of_the_cell():
    assert read_cell("\n%%time\nx = 1\ndef f(:").error == ("invalid syntax", 4)


def test_people_are_shown_what_stands_there():
    assert as_written(read_cell("%time f(x)").text.strip()) == "%time f(x)"
    assert as_written("x = 1") == "x = 1"


def test_characters_that_mark_stand_ins_are_known():
    assert reserved("x = '\uf7d0'")
    assert not reserved("x = 'é'")


PIECES = st.sampled_from(
    [*"!%?=()[]{}'\"#\\\n\r; ", '"""', "%%time\n", "%time ", "x", "if x:\n    ", "ls", "é", "\n\n"]
)


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_every_source_comes_back(source):
    cell = read_cell(source)

    assert taken_back(cell.text) == source
    assert cell.text.count("\n") == source.count("\n")
    ast.parse(cell.text)
