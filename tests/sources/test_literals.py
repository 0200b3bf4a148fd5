"""Sources are spelled as they were, but for the lines that change."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_notebooks import cell, document

from devfix.sources.notebooks._document import read_document, with_sources

LINES = st.sampled_from(["x = 1", "", "    y = 'é'", 'print("\\n")', "z = '\\u00e9'", "# 😀", "a\tb", "</b>", "x = 1"])
SOURCES = st.lists(LINES, max_size=5).map("\n".join) | st.text(max_size=20)
STYLES = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 1, 2, "\t"]), "ensure_ascii": st.booleans(), "sort_keys": st.booleans()}
)


def as_string(source):
    return source


def as_lines(source):
    return source.splitlines(keepends=True)


def as_pieces(source):
    return [source[at : at + 3] for at in range(0, len(source), 3)]


def file_with(sources, style, form):
    cells = [cell("") | {"source": form(source)} for source in sources]
    return json.dumps(document(*cells), **style)


def without_sources(text):
    """The file around its sources."""
    parts, at = [], 0
    for each in read_document(text).cells:
        parts.append(text[at : each.start])
        _, at = json.JSONDecoder(strict=False).raw_decode(text, each.start)
    return [*parts, text[at:]]


@settings(max_examples=300)
@given(
    st.lists(SOURCES, min_size=1, max_size=4),
    st.dictionaries(st.integers(1, 4), SOURCES),
    STYLES,
    st.sampled_from([as_string, as_lines, as_pieces]),
)
def test_only_sources_that_change_are_written(before, changes, style, form):
    text = file_with(before, style, form)

    new = with_sources(read_document(text), changes)

    after = [changes.get(number, source) for number, source in enumerate(before, 1)]
    assert [each.source for each in read_document(new).cells] == after
    assert without_sources(new) == without_sources(text)
    for old_cell, new_cell in zip(read_document(text).cells, read_document(new).cells, strict=True):
        if old_cell.source == new_cell.source:
            assert text[slice(*span(old_cell))] == new[slice(*span(new_cell))]


def span(found):
    return found.literals[0].start if found.literals else 0, found.literals[-1].end if found.literals else 0


@pytest.mark.parametrize("form", [as_string, as_lines])
@pytest.mark.parametrize("spelled", ["\\u00e9", "é"])
def test_lines_that_stay_keep_their_spelling_and_new_ones_take_it_over(form, spelled):
    style = {"indent": 1, "ensure_ascii": spelled != "é"}
    text = file_with(["# é\nx = 1\ny = 2"], style, form)

    new = with_sources(read_document(text), {1: "# é\nx = 'é'\ny = 2"})

    assert new == text.replace("x = 1", f"x = '{spelled}'")


def test_what_a_writer_escapes_without_need_stays_escaped():
    text = json.dumps(document("if a < b:\n    pass")).replace("<", "\\u003c")

    new = with_sources(read_document(text), {1: "if a < b:\n    c < d"})

    assert new == text.replace("pass", "c \\u003c d")


def test_a_line_is_added_in_the_layout_of_the_list():
    text = json.dumps(document("a", "b\nc"), indent=3)

    new = with_sources(read_document(text), {1: "a\nnew", 2: "b\nc\nnew"})

    assert new == json.dumps(document("a\nnew", "b\nc\nnew"), indent=3)


def test_an_empty_list_gets_its_first_line():
    text = json.dumps(document(""), indent=1)

    assert json.loads(with_sources(read_document(text), {1: "x"})) == document("x")
