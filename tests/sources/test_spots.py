"""Places of a program in the file of its notebook."""

import json

import pytest
from made_notebooks import cell, document

from devfix import sources
from devfix.sources.notebooks import spots

SOURCE = "import torch\nx = 'é\"'\ny = torch.ones(2)"


@pytest.mark.parametrize("style", [{"indent": 1, "ensure_ascii": False}, {"indent": 2}, {}])
@pytest.mark.parametrize("form", [str, lambda text: text.splitlines(keepends=True)])
def test_a_place_is_found_behind_escapes(style, form):
    raw = json.dumps(document(cell("# torch", "markdown"), cell("") | {"source": form(SOURCE)}), **style).encode()
    file = sources.decode("a.ipynb", raw)
    lines = raw.decode().split("\n")
    program = file.text.split("\n")

    for word in ("torch", "ones", "2)"):
        at = next(number for number, line in enumerate(program, 1) if word in line)
        line, column = spots(file)(at, program[at - 1].index(word))
        assert lines[line - 1][column:].startswith(word)


def test_a_place_behind_the_end_is_the_end():
    raw = json.dumps(document("import torch"), indent=1).encode()
    file = sources.decode("a.ipynb", raw)
    line, column = spots(file)(2, 99)

    assert raw.decode().split("\n")[line - 1][:column].endswith("import torch")
