"""Lines come in the newlines of the file."""

import pytest

from devfix.init._text import append_lines, insert_lines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"", b"a\nb\n"),
        (b"x\n", b"x\n\na\nb\n"),
        (b"x", b"x\n\na\nb\n"),
        (b"x\r\n", b"x\r\n\r\na\r\nb\r\n"),
        (b"\n", b"\na\nb\n"),
    ],
)
def test_text_is_appended_behind_an_empty_line(old, new):
    assert append_lines(old, "a\nb\n") == new


@pytest.mark.parametrize(
    ("old", "line", "new"),
    [(b"x\ny\n", 1, b"x\na\ny\n"), (b"x", 1, b"x\na\n"), (b"x\r\ny", 1, b"x\r\na\r\ny"), (b"x\n", 0, b"a\nx\n")],
)
def test_text_is_inserted_ahead_of_a_line(old, line, new):
    assert insert_lines(old, line, "a\n") == new
