"""Notebooks as they are run: without what IPython and the shell would do."""

import json

import pytest
from made_notebooks import document

from devfix.sources.notebooks._document import read_document
from devfix.sources.notebooks._export import located, runnable
from devfix.sources.notebooks._program import program_of


def cells(*sources):
    return runnable(program_of("a.ipynb", read_document(json.dumps(document(*sources)))).text)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("!pip install torch\nx = 1", "pass\nx = 1"),
        ("if x:\n    !rm -rf data", "if x:\n    pass"),
        ("files = !ls", "files = []"),
        ("t = %timeit -o f()", "t = None"),
        ("%time f(x)", "pass; f(x)"),
        ("%cd data", "get_ipython().run_line_magic('cd', 'data')"),
        ("%env A=1", "get_ipython().run_line_magic('env', 'A=1')"),
        ("!mkdir -p 'a b' c", "get_ipython().make_folders(['a b', 'c'])"),
        ("!mkdir a && rm b", "pass"),
        ("%%bash\nrm -rf /", "pass\n"),
        ("%%writefile m.py\nx = 1", "get_ipython().run_cell_magic('writefile', 'm.py', 'x = 1\\n')"),
        ("def f(:\n  x", "pass\n"),
    ],
)
def test_commands_are_harmless(source, code):
    (found,) = cells(source)

    assert found["code"].split("#\uf7d1")[0] == code
    assert found["shown"] == source


def test_each_cell_says_where_it_stands():
    assert [(each["number"], each["line"]) for each in cells("a\nb", "c")] == [(1, 2), (2, 5)]


def test_lines_of_the_notebook_get_their_cell():
    text = program_of("a.ipynb", read_document(json.dumps(document("a\nb", "c")))).text
    told = {"chain": [{"file": "a.ipynb", "line": 5}, {"file": "b.py", "line": 5}]}

    assert located(text, told, "a.ipynb") == {
        "chain": [{"file": "a.ipynb", "line": 5, "place": (2, 1)}, {"file": "b.py", "line": 5}]
    }
