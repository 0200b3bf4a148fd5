"""Lines as Python counts them, and columns in other units."""

import pytest

from devfix.model import FileChange, Patch
from devfix.report.positions import Lines, Position, SourceTexts, utf8_length, utf16_length


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("a\x0cb\u2028c\x85d\n\n", ["a\x0cb\u2028c\x85d\n", "\n"]),
    ],
)
def test_lines_end_where_python_ends_them(text, lines):
    assert Lines(text).with_line_ends() == lines
    assert "".join(lines) == text


def test_a_line_has_no_end_and_none_is_there_beyond_the_last():
    lines = Lines("a\r\nbé\n")

    assert [lines[number] for number in (0, 1, 2, 3, 4)] == ["", "a", "bé", "", ""]
    assert (lines.start(2), lines.end(2), lines.start(9), len(lines)) == (3, 5, 6, 3)


@pytest.mark.parametrize("text", ["", "a\r\nbc\rd\n\ne", "x\n"])
def test_a_place_is_where_its_offset_is(text):
    lines = Lines(text)
    for offset in range(len(text) + 1):
        place = lines.position(offset)
        assert lines.start(place.line) + place.column == offset


def test_units_of_text():
    assert [(utf16_length(text), utf8_length(text)) for text in ("ab", "é", "😀", "\ud800")] == [
        (2, 2),
        (1, 2),
        (2, 4),
        (1, 3),
    ]
    assert Lines("😀é = x\n").prefix(Position(1, 3)) == "😀é "


def test_what_was_written_is_read_as_it_was(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"new\n")

    texts = SourceTexts(Patch((FileChange(str(file), b"old\n", b"new\n"),)))

    assert texts.lines(str(file))[1] == "old"
    assert texts.file(str(tmp_path / "gone.py")) is None and texts.lines(str(tmp_path / "gone.py"))[1] == ""
