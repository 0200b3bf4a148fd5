"""Cells of notebooks of all formats, and what is none."""

import json

import pytest
from made_notebooks import cell, document

from devfix.sources.notebooks._document import BadNotebook, read_document, with_sources


def read(values, **style):
    return read_document(json.dumps(values, **style))


def test_cells_of_code_are_numbered_among_all():
    found = read(document(cell("# Title", "markdown"), cell("x = 1", count=7), cell("raw", "raw"), "y = 2"))

    assert [(each.number, each.source, each.count) for each in found.cells] == [(2, "x = 1", 7), (4, "y = 2", None)]


@pytest.mark.parametrize("minor", range(6))
@pytest.mark.parametrize("source", ["x = 1\ny = 2", ["x = 1\n", "y = 2"], ["x = 1\ny ", "= 2"]])
def test_every_minor_format_and_every_form_of_source(minor, source):
    made = cell("") | {"source": source} | ({"id": "a"} if minor == 5 else {})

    assert [each.source for each in read(document(made, nbformat_minor=minor)).cells] == ["x = 1\ny = 2"]


def old(*sources, language="python"):
    cells = [
        {"cell_type": "code", "input": source, "language": language, "outputs": [], "prompt_number": 3, "metadata": {}}
        for source in sources
    ]
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}


def test_format_3_has_worksheets_and_input():
    text = json.dumps(old(["x = 1\n", "y"], "z"), indent=1)
    found = read_document(text)

    assert [(each.source, each.count) for each in found.cells] == [("x = 1\ny", 3), ("z", 3)]
    assert with_sources(found, {1: "x = 2\ny"}) == text.replace("x = 1", "x = 2")


def test_outputs_and_attachments_are_passed_over():
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 100_000}, "metadata": {}}
    found = read(document(cell("x", outputs=[picture]), cell("![a](b)", "markdown", attachments={"b": {}})))

    assert [each["outputs"] for each in found.slim["cells"] if "outputs" in each] == [[]]
    assert found.slim["cells"][1]["attachments"] == {}


@pytest.mark.parametrize(
    ("metadata", "python"),
    [
        ({}, True),
        ({"kernelspec": {"name": "python3"}}, True),
        ({"kernelspec": {"name": "my-environment", "display_name": "x"}}, True),
        ({"kernelspec": {"language": "python"}}, True),
        ({"language_info": {"name": "python"}}, True),
        ({"kernelspec": {"language": "R", "name": "ir"}}, False),
        ({"kernelspec": {"name": "ir"}}, False),
        ({"kernelspec": {"name": "julia-1.10"}}, False),
        ({"language_info": {"name": "julia"}}, False),
        ({"kernelspec": None}, True),
    ],
)
def test_the_language_is_what_the_kernel_says(metadata, python):
    assert read(document("x", metadata=metadata)).is_python is python


def test_the_language_of_format_3_stands_in_the_cells():
    assert read(old("x")).is_python
    assert not read(old("x", language="julia")).is_python


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no valid JSON: Expecting property name"),
        ("", "is no valid JSON: Expecting value"),
        ("[1]", "is no notebook: its JSON is no object"),
        ("{}", "is no notebook that can be read: it has no nbformat"),
        ('{"nbformat": 2, "worksheets": []}', "nbformat 2 is none of 3 and 4"),
        ('{"nbformat": 4}', "it has no list of cells"),
        ('{"nbformat": 4, "cells": {}}', "it has no list of cells"),
        ('{"nbformat": 4, "cells": [3]}', "cell 1 is no object"),
        ('{"nbformat": 4, "cells": [{"source": "x"}]}', "cell 1 has no cell_type"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "cell 1 has no source"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 3}]}', "neither a string nor a list of strings"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", 3]}]}', "neither a string nor a list"),
        ('{"nbformat": 4, "cells": []} x', "is no valid JSON: Extra data"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_notebook_says_why(text, told):
    with pytest.raises(BadNotebook, match=told):
        read_document(text)


def test_a_problem_has_the_line_of_the_file():
    with pytest.raises(BadNotebook) as caught:
        read({"nbformat": 4, "cells": [{"cell_type": "code"}]}, indent=1)

    assert caught.value.line == 4
