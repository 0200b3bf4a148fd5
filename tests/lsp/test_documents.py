"""Texts, positions and edits, without a client."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from devfix.lsp.documents import Text, changed, edits_between, moved_span
from devfix.model import Span

TEXTS = st.text(st.sampled_from("ab \n\r\t\x0c\u2028é🙂"), max_size=40)


def written(text: Text, edits: list[types.TextEdit]) -> str:
    result = text.text
    for edit in reversed(edits):
        start, end = text.offset(edit.range.start), text.offset(edit.range.end)
        result = result[:start] + edit.new_text + result[end:]
    return result


@given(TEXTS, TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_edits_make_one_text_of_another(old, new, encoding):
    text = Text(old, encoding)

    assert written(text, edits_between(text, new)) == new


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_a_place_survives_the_way_to_the_client_and_back(text, encoding):
    seen = Text(text, encoding)

    for line, content in enumerate(seen.lines, 1):
        for column in range(len(content.rstrip("\r\n")) + 1):
            assert seen.place(seen.position(line, column)) == (line, column)


@given(TEXTS)
def test_lines_are_those_of_python(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    assert [line.rstrip("\r\n") for line in Text(text).lines] == lines
    assert "".join(Text(text).lines) == text


@pytest.mark.parametrize(("line", "character"), [(0, 99), (99, 0), (1, 3), (2, 1)])
def test_what_lies_outside_is_the_nearest_inside(line, character):
    text = Text("ab\ncd\n")

    assert 0 <= text.offset(types.Position(line, character)) <= 6


def test_a_change_behind_the_end_is_added():
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(9, 9), types.Position(9, 9)), "c")

    assert changed(Text("ab"), change).text == "abc"


def test_random_changes_are_as_in_an_editor():
    chance = random.Random(0)
    text = expected = Text("one\ntwo 🙂\r\nthree")
    for _ in range(200):
        start, end = sorted(chance.randrange(len(expected.text) + 1) for _ in range(2))
        if "\r" in (expected.text[start - 1 : start], expected.text[end - 1 : end]):
            continue  # between \r and \n there is no position
        piece = chance.choice(["", "x", "\n", "🙂", "a\nb"])
        where = types.Range(*(_position(expected, offset) for offset in (start, end)))
        expected = Text(expected.text[:start] + piece + expected.text[end:])
        text = changed(text, types.TextDocumentContentChangePartial(where, piece))
        assert text.text == expected.text


def _position(text: Text, offset: int) -> types.Position:
    before = Text(text.text[:offset]).lines
    return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)


@pytest.mark.parametrize(
    ("new", "line"),
    [("a\nb\nc\nd", 3), ("x\na\nb\nc\nd", 4), ("c\nd", 1), ("a\nb\nc\nd\ne", 3), ("a\nb\nC\nd", None), ("", None)],
)
def test_a_span_moves_with_its_line(new, line):
    moved = moved_span(Span(3, 0, 3, 1), "a\nb\nc\nd", new)

    assert moved == (None if line is None else Span(line, 0, line, 1))
