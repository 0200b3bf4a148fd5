"""Totals and the section of the page."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from benchmarks import pages
from benchmarks.trials.catalogue import RIGHT, Trial
from benchmarks.trials.judgement import Result
from benchmarks.trials.tables import SECTION, markdown, totals

WRONG = Trial("wrong", "skipped", "no evaluation", (), ("output-differs",))
REPAIR = Trial("right", "moved", "", (), RIGHT)


def result(trial, status, reason="because", program="gan"):
    return Result(program, trial, status, reason, 1.0)


def test_a_wrong_patch_that_is_called_fixed_is_off():
    assert result(WRONG, "fixed").is_off
    assert result(WRONG, "no-error").is_off
    assert not result(WRONG, "fixed").is_refused


def test_a_wrong_patch_that_is_refused_with_an_unexpected_verdict_is_off():
    found = result(WRONG, "inconclusive")
    assert found.is_refused and found.is_off


def test_a_right_repair_is_off_unless_it_is_fixed():
    assert not result(REPAIR, "fixed").is_off
    assert result(REPAIR, "inconclusive").is_off


def test_totals_count_both_kinds():
    found = totals([result(WRONG, "output-differs"), result(WRONG, "fixed"), result(REPAIR, "fixed")])
    assert found == "1 of 2 wrong patches are refused, 1 are called fixed.\n1 of 1 right repairs are accepted."


def test_the_section_lists_programs_and_unexpected_verdicts():
    results = [result(WRONG, "output-differs"), result(WRONG, "fixed", "a | b\nc"), result(REPAIR, "fixed")]
    lines = markdown(results, "2.13.0", "sim").split("\n")
    assert "| gan | 1 of 2 | 1 output-differs | 1 of 1 |" in lines
    assert "| wrong | gan: skipped | fixed | a \\| b |" in lines


def test_without_unexpected_verdicts_there_is_one_table():
    assert "unexpected" not in markdown([result(REPAIR, "fixed")], "2.13.0", "sim")


def test_sections_of_a_page_are_rewritten_apart(tmp_path):
    page = tmp_path / "docs" / "page.md"
    pages.create(page, "Page", "corpus")
    page.write_text(page.read_text() + "<!-- trials: begin -->\n<!-- trials: end -->\n")
    pages.rewrite(page, "corpus", "one")
    pages.rewrite(page, SECTION, "two")
    pages.rewrite(page, "corpus", "three")
    lines = [
        "<!-- corpus: begin -->",
        "three",
        "<!-- corpus: end -->",
        "<!-- trials: begin -->",
        "two",
        "<!-- trials: end -->",
    ]
    assert page.read_text().splitlines() == ["# Page", "", *lines]


def test_a_page_without_the_section_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n")
    with pytest.raises(ValueError, match="no lines <!-- trials: begin -->"):
        pages.rewrite(page, SECTION, "text")
