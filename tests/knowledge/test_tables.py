"""Counts by group, for the terminal and for a page."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from benchmarks.knowledge.examples import Confirmed, Example, moved
from benchmarks.knowledge.judgement import Result
from benchmarks.knowledge.tables import markdown, rewrite, rows, terminal  # needs torch

OPERANDS = (moved("x", "torch.rand(3)"), moved("y", "torch.rand(3)"))


def _result(group: str, *reported: bool, repaired: tuple[str, ...] = ()) -> Result:
    example = Example(group, "f", OPERANDS, "z = f(x, y)")
    return Result(Confirmed(example, frozenset(), example.candidates, ()), reported, repaired, ())


RESULTS = [
    _result("torch", True, True),
    _result("torch", True, False),
    _result("operators", True, True, repaired=("DEV100 …",)),
    _result("torch.nn", False, True),
]


def test_a_row_for_each_group_and_one_for_all() -> None:
    found = rows(RESULTS)
    assert [(row.group, row.functions, row.known) for row in found] == [
        ("torch", 2, 2),
        ("operators", 1, 0),
        ("torch.nn", 1, 0),
        ("all", 4, 2),
    ]
    assert found[0].cells == ("torch", "2", "2", "100.0 %", "3 of 4", "0", "0")
    assert terminal(found).row_count == len(found)


def test_the_table_of_a_page_is_replaced_and_the_rest_stays(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- knowledge: begin -->\nold\n<!-- knowledge: end -->\nbelow\n")
    rewrite(page, markdown(rows(RESULTS), "2.13.0"))
    text = page.read_text()
    assert text.startswith("above\n<!-- knowledge: begin -->\nMeasured with torch 2.13.0.\n\n| group |")
    assert text.endswith("| all | 4 | 2 | 50.0 % | 6 of 8 | 1 | 0 |\n<!-- knowledge: end -->\nbelow\n")
    rewrite(page, markdown(rows(RESULTS), "2.13.0"))
    assert page.read_text() == text


def test_a_page_without_markers_is_an_error(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text("no table here\n")
    with pytest.raises(ValueError, match="knowledge: begin"):
        rewrite(page, "")
