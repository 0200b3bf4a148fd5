"""Places of one version of a text in another one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.engine.edited_lines.text_alignment import Alignment
from devfix.model import Span

LINES = {
    "a line is added above": ("a\nb\nc", "x\na\nb\nc", {1: 2, 3: 4}),
    "a line is added below": ("a\nb\nc", "a\nb\nc\nx", {1: 1, 3: 3}),
    "a line between two is gone": ("a\nb\nc", "a\nc", {1: 1, 2: 2, 3: 2}),
    "the last line is gone": ("a\nb", "a", {2: 1}),
    "a line is rewritten": ("a\nb = f(x)\nc", "a\nb = f(x.to(d))\nc", {2: 2, 3: 3}),
    "a line is rewritten, with another ahead of it": ("a\nb = f(x)\nc", "a\nx = x.to(d)\nb = f(x, 1)\nc", {2: 3, 3: 4}),
    "a line is moved down": ("opt = make(net)\nnet.cuda()\nb", "net.cuda()\nopt = make(net)\nb", {1: 2, 2: 1, 3: 3}),
    "a line is moved into a block": ("x = 1\nif a:\n    y\nz", "if a:\n    x = 1\n    y\nz", {1: 2, 2: 1, 3: 3}),
    "of two alike none is taken for the other": ("p\nq\nq\nr", "p\nr\nq\nq", {1: 1}),
    "ends of lines as Python has them": ("a\r\n'\f\u2028'\rb", "x\ra\r\n'\f\u2028'\rb", {1: 2, 2: 3, 3: 4}),
    "a line that is not there stays": ("a", "x\na", {0: 0, 9: 9}),
}


@pytest.mark.parametrize(("old", "new", "expected"), LINES.values(), ids=LINES)
def test_lines(old, new, expected):
    aligned = Alignment(old, new)

    assert {line: aligned.line(line) for line in expected} == expected


COLUMNS = {
    "behind what is added": ("f(x, y)", "f(x.to(d), y)", "y"),
    "ahead of what is added": ("f(x, y)", "f(x, y.to(d))", "f(x"),
    "the thing that gets something behind it": ("f(x, y)", "f(x.to(d), y)", "x"),
    "the thing that gets something ahead of it": ("f(y)", "f(a, y)", "y"),
    "in a block now": ("y = f(x)", "    y = f(x)", "f(x)"),
}


@pytest.mark.parametrize(("old", "new", "piece"), COLUMNS.values(), ids=COLUMNS)
def test_a_piece_of_a_line_is_found_by_its_words(old, new, piece):
    at = old.index(piece)

    span = Alignment(old, new).span(Span(1, at, 1, at + len(piece)))

    assert new[span.column : span.end_column] == piece


def test_a_piece_of_which_the_end_went_ahead_of_the_start_is_empty():
    span = Alignment("opt = make(\nnet)\nz = 1\n", "net)\nz = 1\nopt = make(\n").span(Span(1, 0, 2, 4))

    assert span == Span(3, 0, 3, 0)


@given(st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), max_size=12), st.data())
def test_a_line_that_stands_once_is_found_wherever_lines_are_added(lines, data):
    after = list(lines)
    for at in sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=4)), reverse=True):
        after.insert(at, "new")
    aligned = Alignment("\n".join(lines), "\n".join(after))

    for number, line in enumerate(lines, 1):
        if line and lines.count(line) == 1:
            assert after[aligned.line(number) - 1] == line


@given(st.text("ab \n\r(=", max_size=40), st.text("ab \n\r(=", max_size=40), st.integers(1, 9), st.integers(0, 9))
def test_every_place_is_a_place_of_the_other_text(old, new, line, column):
    lines = re.split(r"\r\n|\r|\n", old)
    line = min(line, len(lines))
    column = min(column, len(lines[line - 1]))
    others = re.split(r"\r\n|\r|\n", new)

    there, at = Alignment(old, new).place(line, column)

    assert 1 <= there <= len(others)
    assert 0 <= at <= len(others[there - 1])
