"""What belongs together is one suggestion, or none."""

from __future__ import annotations

import pytest

from devfix.bot.patch import diff, hunks
from devfix.bot.suggestions import build_suggestions, marker_key
from devfix.model import FileChange

OLD = "".join(f"line {number}\n" for number in range(1, 61))
ALL = {"a.py": set(range(1, 61)), "b.py": set(range(1, 61))}


def suggested(before, after, shown, parts):
    """The suggestions made from the patch between two states of files."""
    patch = diff([FileChange(path, before[path], after[path]) for path in before])
    return build_suggestions(before, after, hunks(patch, after), shown, [], parts)


def changed(*numbers):
    return "".join(f"new {n}\n" if n in numbers else f"line {n}\n" for n in range(1, 61)).encode()


def offered(parts, *numbers, shown=ALL, more=()):
    before, after = {"a.py": OLD.encode()}, {"a.py": changed(*numbers)}
    if more:
        before["b.py"], after["b.py"] = OLD.encode(), changed(*more)
    return [(each.path, each.first, each.last, each.is_visible) for each in suggested(before, after, shown, parts)]


def places(*numbers, path="a.py"):
    return tuple((path, number) for number in numbers)


def test_each_part_is_a_suggestion():
    assert offered([places(3), places(9)], 3, 9) == [("a.py", 3, 3, True), ("a.py", 9, 9, True)]


def test_hunks_that_belong_together_are_one_suggestion_with_what_lies_between():
    (made,) = suggested({"a.py": OLD.encode()}, {"a.py": changed(3, 6)}, ALL, [places(3, 6)])

    assert (made.first, made.last, made.is_visible) == (3, 6, True)
    assert made.lines == ("new 3", "line 4", "line 5", "new 6")


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param({"a.py": {3, 4, 6}}, id="between"),
        pytest.param({"a.py": {3}}, id="half"),
        pytest.param({}, id="none"),
    ],
)
def test_what_is_shown_in_part_is_not_suggested(shown):
    assert offered([places(3, 6)], 3, 6, shown=shown) == [("a.py", 3, 3, False), ("a.py", 6, 6, False)]


def test_what_lies_far_apart_is_not_suggested():
    assert offered([places(3, 40)], 3, 40) == [("a.py", 3, 3, False), ("a.py", 40, 40, False)]


def test_what_belongs_to_another_file_is_not_suggested():
    parts = [(*places(3), *places(5, path="b.py")), places(20)]

    assert offered(parts, 3, 20, more=(5,)) == [("a.py", 3, 3, False), ("a.py", 20, 20, True), ("b.py", 5, 5, False)]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([], id="unknown"),
        pytest.param([places(3)], id="one-is-missing"),
        pytest.param([places(3), places(3, 9)], id="twice"),
        pytest.param([places(3), places(10)], id="no-such-hunk"),
    ],
)
def test_hunks_that_are_not_named_once_belong_together(parts):
    assert offered(parts, 3, 9) == [("a.py", 3, 9, True)]


def test_parts_within_each_other_are_one():
    assert offered([places(3, 9), places(6)], 3, 6, 9) == [("a.py", 3, 9, True)]


def test_added_lines_take_a_neighbour_along():
    before, after = b"1\n2\n3\n4\n", b"1\n2\nx\n3\ny\n4\n"
    parts = [(("a.py", 3),), (("a.py", 4),)]

    (first, second) = suggested({"a.py": before}, {"a.py": after}, {"a.py": {1, 2, 3, 4}}, parts)

    assert [(each.first, each.last, each.lines) for each in (first, second)] == [(2, 2, ("2", "x")), (3, 3, ("3", "y"))]


def test_parts_that_take_the_same_neighbour_along_are_one():
    before, after = b"1\n2\n3\n", b"x\n1\ny\n2\n3\n"
    parts = [(("a.py", 1),), (("a.py", 2),)]

    (made,) = suggested({"a.py": before}, {"a.py": after}, {"a.py": {1}}, parts)

    assert (made.first, made.last, made.lines, made.is_visible) == (1, 1, ("x", "1", "y"), True)


def test_the_key_of_a_comment_is_its_last_marker():
    told = "`<!-- devfix:suggestion=0000000000000000 -->`\n<!-- devfix:suggestion=1111111111111111 -->"

    assert marker_key(told) == "1" * 16
