"""The events of a finding on terminals of any width."""

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from devfix import sources
from devfix.model import Event, Finding, Outcome, Patch, Resolution, Severity, Span, Status
from devfix.report import Mode, Report
from devfix.report.findings import text
from devfix.report.positions import SourceTexts

SOURCE = """\
model = Net().to(device)
for images, labels in loader:
    loss = criterion(model(images), labels)
"""
MOVED = "the weights of the model are moved to the accelerator here, before the loop begins"
CREATED = "`labels` is created by the loader here, on the CPU"
FAILS = "used together with tensors on the accelerator here"


def event_of(source, line, expression, note, kind="used"):
    """The event of an expression in a line of a source text."""
    row = source.splitlines()[line - 1]
    start = row.index(expression)
    return Event(kind, "train.py", line, start, row.strip(), note, start + len(expression))


EVENTS = (
    event_of(SOURCE, 1, "Net().to(device)", MOVED, "moved"),
    event_of(SOURCE, 2, "labels", CREATED, "created"),
    event_of(SOURCE, 3, "criterion(model(images), labels)", FAILS),
)


def shown(width, events=EVENTS, source=SOURCE, message="`labels` stays on the CPU", **terminal):
    """The lines of a report on a terminal; on no terminal if the width is None."""
    finding = Finding("DEV101", "batch-not-moved", Severity.ERROR, "train.py", Span(2, 4, 2, 10), message, events)
    outcome = Outcome((Resolution(finding, Status.NOT_FIXED),))
    texts = SourceTexts(Patch(), [sources.decode("train.py", source.encode())])
    stream = io.StringIO()
    options = {"color_system": None, "width": width, "force_terminal": width is not None, **terminal}
    console = Console(file=stream, highlight=False, soft_wrap=True, **options)
    text.show(Report(outcome, Mode.CHECK), 0, console, texts)
    return stream.getvalue().splitlines()


def test_on_80_columns_notes_stand_below_their_lines_after_carets():
    assert shown(80)[2:-3] == [
        "  1 | model = Net().to(device)",
        "    |         ^^^^^^^^^^^^^^^^",
        "    |   the weights of the model are moved to the accelerator here, before the",
        "    |   loop begins",
        "  2 | for images, labels in loader:",
        "    |             ^^^^^^ `labels` is created by the loader here, on the CPU",
        "  3 | loss = criterion(model(images), labels)",
        "    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "    |   used together with tensors on the accelerator here",
    ]


@pytest.mark.parametrize("width", [200, None])
def test_where_there_is_room_notes_stand_beside_their_lines(width):
    assert shown(width)[2:-3] == [
        f"  1 | model = Net().to(device)                 {MOVED}",
        f"  2 | for images, labels in loader:            {CREATED}",
        f"  3 | loss = criterion(model(images), labels)  {FAILS}",
    ]


def test_a_pipe_gets_one_line_per_message_and_a_terminal_gets_whole_words():
    message = "`labels` stays on the CPU, " * 9

    assert f"  {message}" in shown(None, message=message)
    lines = shown(80, message=message)
    told = lines[1 : lines.index("  1 | model = Net().to(device)")]
    assert len(told) > 2 and max(map(len, told)) <= 80
    assert " ".join(line.strip() for line in told) == message.strip()


def test_neighbours_on_the_same_line_are_one_row():
    first, second, third = EVENTS
    beside = event_of(SOURCE, 2, "images", "so is `images`", "created")

    assert shown(200, (first, second, beside, third))[3:5] == [
        f"  2 | for images, labels in loader:            {CREATED}; so is `images`",
        f"  3 | loss = criterion(model(images), labels)  {FAILS}",
    ]
    again = [line for line in shown(200, (second, first, beside)) if line.startswith("  2 |")]
    assert len(again) == 2, "the order of the events is kept"


def test_the_same_line_number_of_another_file_is_another_row():
    first = EVENTS[1]
    other = replace(first, path="other.py")

    assert shown(200, (first, other))[2:5] == [
        f"  2 | for images, labels in loader:  {CREATED}",
        "  -> other.py",
        f"  2 | for images, labels in loader:  {CREATED}",
    ]


LONG = f"result = combine({', '.join(f'argument_{number}' for number in range(12))}, misplaced)\n"


@pytest.mark.parametrize("width", [80, 200])
def test_of_a_long_line_the_part_with_the_expression_is_shown(width):
    row, *below = shown(width, (event_of(LONG, 1, "misplaced", "on the CPU"),), LONG)[2:-3]

    assert row.startswith("  1 | …") and "misplaced)" in row and "result" not in row
    assert len(row) <= width
    if width == 80:
        assert below[0].index("^") == row.index("misplaced")
        assert below[0].count("^") == len("misplaced") and below[1] == "    |   on the CPU"


def test_of_a_long_line_whose_expression_comes_first_the_end_is_cut():
    row = shown(80, (event_of(LONG, 1, "combine", "called here"),), LONG)[2]

    assert row.startswith("  1 | result = combine(") and row.endswith("…") and len(row) == 80


def test_a_line_that_is_not_as_it_was_has_no_carets():
    lines = shown(80, EVENTS, SOURCE.replace("labels", "targets"))

    assert "  2 | for images, labels in loader:" in lines
    assert [line for line in lines if "^" in line] == ["    |         ^^^^^^^^^^^^^^^^"]


WIDE = 'print("損失 🙂", f(名前)); x = misplaced(4)\n'


@pytest.mark.parametrize("width", [60, 80])
def test_carets_stand_below_wide_characters(width):
    row, carets, *_ = shown(width, (event_of(WIDE, 1, "misplaced(4)", "created here, and used below " * 3),), WIDE)[2:]

    assert cell_len(carets[: carets.index("^")]) == cell_len(row[: row.index("misplaced")])
    assert carets.count("^") == len("misplaced(4)")


def test_carets_below_a_wide_expression_are_as_wide():
    carets = shown(60, (event_of(WIDE, 1, "f(名前)", "created here, and used below " * 3),), WIDE)[3]

    assert carets.count("^") == cell_len("f(名前)") == 7


@given(
    st.integers(40, 220),
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 40)), min_size=1, max_size=4),
    st.sampled_from(["a", "名", "🙂", "é"]),
)
def test_no_line_is_longer_than_the_terminal_and_no_word_is_broken(width, shapes, letter):
    rows = [
        f"x{'y' * (start % 7)} = call{number}({f'{letter!r}, ' * start}b)\n" for number, (start, _) in enumerate(shapes)
    ]
    source = "".join(rows)
    events = tuple(
        event_of(source, number, f"call{number - 1}", " ".join(["moved"] * words))
        for number, (_, words) in enumerate(shapes, 1)
    )

    lines = shown(width, events, source)

    assert max(map(cell_len, lines[1:])) <= width
    words = " ".join(line.replace("^", " ").partition(" | ")[2] for line in lines).split()
    assert words.count("moved") == sum(count for _, count in shapes)


def test_links_and_styles_are_for_terminals():
    plain = "\n".join(shown(None))
    styled = "\n".join(shown(80, color_system="standard"))

    assert "\x1b" not in plain
    assert styled.count("\x1b]8;") == 4, "the file and the rule each have the beginning and the end of a link"
    assert "/train.py\x1b\\" in styled.replace("\x07", "\x1b\\")
    assert "DEV101" in styled


def test_no_color_is_respected():
    def colours(lines):
        codes = [part.partition("m")[0].split(";") for part in "\n".join(lines).split("\x1b[")[1:]]
        return {code for each in codes for code in each if re.fullmatch(r"[349]\d", code)}

    assert colours(shown(80, color_system="standard"))
    assert not colours(shown(80, color_system="standard", _environ={"NO_COLOR": "1"}))
