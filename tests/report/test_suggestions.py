"""Replacements: few, exact, and never half of a repair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.model import (
    AppendCode,
    FileChange,
    Finding,
    Fix,
    Outcome,
    Patch,
    Resolution,
    Severity,
    Span,
    Status,
)
from devfix.report.positions import SourceTexts
from devfix.report.suggestions import Replacement, apply_replacements, find_replacements, suggestions_of

PIECES = st.lists(st.sampled_from(["a = b", "x", "\n", "\r\n", "\r", " ", "é😀", "a = b.to(device)\n"]), max_size=25)


@given(PIECES, PIECES)
def test_replacements_lead_from_one_text_to_the_other(old, new):
    before, after = "".join(old), "".join(new)

    found = find_replacements("a.py", before, after)

    assert apply_replacements(before, found) == after
    for each in found:
        for at in (each.start, each.end):
            assert before[at - 1 : at + 1] != "\r\n" or at == 0, "an end of line is not cut in two"


def test_an_insertion_deletes_nothing():
    assert find_replacements("a.py", "x = f(y)\nz\n", "x = f(y.cuda())\nz\n") == [Replacement("a.py", 7, 7, ".cuda()")]


@pytest.mark.parametrize(
    "pair", [((1, 3), (2, 4)), ((1, 1), (1, 1)), ((1, 3), (1, 1))], ids=["overlap", "same place", "same start"]
)
def test_what_touches_the_same_place_does_not_go_together(pair):
    assert apply_replacements("abcdef", [Replacement("a.py", start, end, "x") for start, end in pair]) is None


def finding(path, line, *spans):
    edits = tuple(AppendCode(where, Span(number, 4, number, 5), ".cuda()") for where, number in spans)
    fix = Fix(f"move line {line}", edits)
    made = Finding("DEV101", "bug", Severity.ERROR, path, Span(line, 0, line, 1), f"line {line}", (), (fix,))
    return Resolution(made, Status.FIXED, fix=fix)


def outcome(items, **files):
    return Outcome(tuple(items), Patch(tuple(FileChange(f"{name}.py", *both) for name, both in files.items())))


def suggestions(result):
    return suggestions_of(result, SourceTexts(result.patch))


def test_each_finding_has_its_own_fix_where_all_together_are_the_patch():
    items = [finding("a.py", 1, ("a.py", 1)), finding("a.py", 2, ("a.py", 2))]
    result = outcome(items, a=(b"x = a\ny = b\n", b"x = a.cuda()\ny = b.cuda()\n"))

    found = suggestions(result)

    assert [found.of(item.finding).replacements for item in items] == [
        (Replacement("a.py", 5, 5, ".cuda()"),),
        (Replacement("a.py", 11, 11, ".cuda()"),),
    ]
    assert not found.fixed_with


def test_where_they_are_not_the_patch_the_first_has_all_of_it():
    items = [finding("a.py", 1, ("a.py", 1)), finding("a.py", 2, ("a.py", 2))]
    result = outcome(items, a=(b"x = a\ny = b\n", b"x = a.cuda()\ny = b.cuda(1)\n"))

    found = suggestions(result)

    assert [each.text for each in found.of(items[0].finding).replacements] == [".cuda()", ".cuda(1)"]
    assert found.of(items[0].finding).title == "move line 1; also fixes 1 more finding"
    assert found.of(items[1].finding) is None and list(found.fixed_with.values()) == [items[0].finding]


def test_a_fix_of_two_files_is_never_taken_apart():
    both = finding("a.py", 1, ("a.py", 1), ("b.py", 1))
    other = finding("b.py", 2, ("b.py", 2))
    result = outcome(
        [both, other], a=(b"x = a\n", b"x = a.cuda()\n"), b=(b"x = a\ny = b\n", b"x = a.cuda()\ny = b.xpu()\n")
    )

    found = suggestions(result)

    assert found.of(both.finding).paths == ("a.py", "b.py") and found.of(other.finding) is None


def test_what_is_not_repaired_has_no_fix():
    left = Resolution(finding("a.py", 1, ("a.py", 1)).finding, Status.FIXABLE)

    assert suggestions(Outcome((left,))).of(left.finding) is None


def test_many_findings_of_one_file_share_the_patch():
    lines = [f"x{number} = a" for number in range(200)]
    items = [finding("a.py", number, ("a.py", number)) for number in range(1, 201)]
    old = "".join(f"{line}\n" for line in lines).encode()

    found = suggestions(outcome(items, a=(old, old.replace(b"= a", b"= a.cuda()"))))

    assert len(found.by_finding) == 1 and len(found.fixed_with) == 199
