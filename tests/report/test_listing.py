"""Annotated source: what is shown of a file, and where arrows run."""

import pytest

from devfix.model import Patch
from devfix.report.listing import Listings, Step
from devfix.report.positions import SourceTexts

pytest.importorskip("pygments")


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Return the rows of a story in a file of 300 numbered lines, with a function at line 100."""
    monkeypatch.chdir(tmp_path)
    lines = [f"x{number} = {number}" for number in range(1, 301)]
    lines[99] = "def step(batch):"
    lines[100:200] = [f"    y{number} = batch" for number in range(101, 201)]
    (tmp_path / "train.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "data.py").write_text("a = 1\nb = 2\n", encoding="utf-8")

    def call(*steps):
        listings = Listings(SourceTexts(Patch()), lambda path, line: str(line))
        return listings.rows(
            [Step("used", "call", path, line, 0, end, "gone = 1", "note") for path, line, end in steps]
        )

    return call


def shown(rows):
    return [row.number or f"{row.kind} {row.text}" for row in rows if row.kind != "note"]


def lanes(rows):
    return {row.number: row.lanes for row in rows if row.kind == "line" and row.steps}


def test_lines_around_a_step_are_shown_and_the_head_of_its_function(listed):
    rows = listed(("train.py", 150, 0))

    expected = [
        "file train.py",
        "fold 40 lines",
        "100",
        "fold 47 lines",
        "148",
        "149",
        "150",
        "151",
        "152",
        "fold 40 lines",
    ]
    assert shown(rows) == expected
    inside = next(row for row in rows if row.kind == "fold").rows
    assert [row.number for row in inside] == [str(number) for number in range(60, 100)]


def test_a_long_way_is_only_counted_and_a_short_one_is_shown(listed):
    assert "gap 245 lines" in shown(listed(("train.py", 10, 0), ("train.py", 260, 0)))
    assert shown(listed(("train.py", 10, 0), ("train.py", 17, 0)))[2:13] == [str(number) for number in range(8, 19)]


def test_the_expression_is_marked(listed):
    row = next(row for row in listed(("train.py", 12, 3)) if row.steps)

    groups = [("".join(piece.text for piece in pieces), inside) for pieces, inside in row.pieces]
    assert groups == [("x12", True), (" = 12", False)]


def test_an_arrow_runs_from_each_step_to_the_next(listed):
    rows = listed(("train.py", 12, 0), ("train.py", 10, 0), ("data.py", 1, 0))

    assert [row.number for row in rows if row.is_target] == ["10", "1"]
    assert lanes(rows) == {
        "10": ["down hook1", "down hook0"],
        "12": ["through", "hook0 up"],
        "1": ["hook1 up", ""],
    }


def test_arrows_that_overlap_have_lanes_of_their_own(listed):
    rows = listed(("train.py", 10, 0), ("train.py", 16, 0), ("train.py", 12, 0))

    assert lanes(rows) == {
        "10": ["down hook1", ""],
        "12": ["through", "down hook0"],
        "16": ["hook1 up", "hook0 up"],
    }


def test_a_chain_that_goes_down_shares_a_lane(listed):
    rows = listed(("train.py", 10, 0), ("train.py", 12, 0), ("train.py", 14, 0))

    assert lanes(rows) == {"10": ["down hook0"], "12": ["down hook0 up"], "14": ["hook0 up"]}


def test_steps_on_one_line_share_it_and_need_no_arrow(listed):
    rows = listed(("train.py", 10, 0), ("train.py", 10, 0))

    assert [number for row in rows if row.kind == "line" for number, _ in row.steps] == [1, 2]
    assert [row.kind for row in rows].count("note") == 2 and not any(row.is_target for row in rows)


@pytest.mark.parametrize(("path", "line"), [("missing.py", 3), ("data.py", 99)])
def test_a_file_that_is_gone_or_shorter_shows_the_line_that_was_found(listed, path, line):
    rows = listed((path, line, 0))

    assert shown(rows) == [f"file {path}", str(line)]
    assert rows[1].pieces[0][0][0].text == "gone = 1"


def test_long_lines_are_cut(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(f'x = "{"y" * 5000}"\n', encoding="utf-8")

    rows = Listings(SourceTexts(Patch()), lambda path, line: str(line)).rows(
        [Step("used", "call", "a.py", 1, 0, 0, "", "")]
    )

    text = "".join(piece.text for pieces, _ in rows[1].pieces for piece in pieces)
    assert len(text) == 1001 and text.endswith("…")
