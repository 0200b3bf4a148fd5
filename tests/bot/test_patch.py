"""Patches of the bot: texts that are slow to compare, positions that are exact, and limits."""

from __future__ import annotations

import time

import pytest

from devfix.bot import patch
from devfix.bot.skip_reasons import BotError
from devfix.bot.suggestions import build_suggestions
from devfix.model import FileChange

LIMIT_S = 5.0  # a hundred times what is needed, and less than a tenth of what a quadratic comparison needs


def compared(old, new):
    """The hunks between two texts, and the seconds that they took."""
    started = time.perf_counter()
    made = patch.diff([FileChange("a.py", old, new)])
    found = patch.hunks(made, {"a.py": new})
    return found, time.perf_counter() - started


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"x = 1\n" * 1200, b"x = 1 / y\n" * 1200, id="other-lines"),
        pytest.param(b"x = 1\n" * 450, b"x = 1\nx = 1 / y\n" * 450, id="every-other-line"),
        pytest.param(b"1, 2,\n" * 6000 + b"x\n", b"y\n" + b"1, 2,\n" * 6000, id="a-table"),
    ],
)
def test_equal_lines_are_compared_quickly(old, new):
    found, seconds = compared(old, new)

    assert found and seconds < LIMIT_S
    made = patch.diff([FileChange("a.py", old, new)])
    assert patch.apply(made, {"a.py": old}) == {"a.py": new}


def test_a_patch_applies_where_it_says_and_nowhere_else():
    before = {"a.py": b"x\n" + b"y\n" * 5 + b"z\n"}
    elsewhere = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-z\n+w\n"

    with pytest.raises(BotError, match=r"a\.py has other lines at line 3"):
        patch.apply(elsewhere, before)


def test_more_hunks_than_a_review_shows_are_refused():
    old = b"".join(b"%d\n" % number for number in range(2 * patch.MAX_HUNKS + 2))
    new = b"".join(b"x\n" if number % 2 else b"%d\n" % number for number in range(2 * patch.MAX_HUNKS + 2))

    with pytest.raises(BotError, match=f"more than {patch.MAX_HUNKS} hunks"):
        compared(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"a\nb", b"a\nc", id="no-newline"),
        pytest.param(b"a\nb", b"a\nb\n", id="newline-added"),
        pytest.param(b"a\r\nb\r\n", b"a\r\nc\r\n", id="crlf"),
        pytest.param(b"\xff\nb\n", b"\xff\nc\n", id="not-utf-8"),
        pytest.param(b"a\n", b"b\na\n", id="first-line"),
        pytest.param(b"a\n--- b\n", b"a\n++ b\n", id="looks-like-a-header"),
    ],
)
def test_a_patch_brings_exactly_the_new_bytes(old, new):
    made = patch.diff([FileChange("a folder/ä.py", old, new)])

    assert patch.apply(made, {"a folder/ä.py": old}) == {"a folder/ä.py": new}
    (hunk,) = patch.hunks(made, {"a folder/ä.py": new})
    before, after, _ = patch.decode_lines(old, new)
    assert before[: hunk.a1] + list(hunk.lines) + before[hunk.a2 :] == after


def test_findings_of_many_lines_are_described_quickly():
    lines = 2 * patch.MAX_HUNKS
    old = b"".join(b"%d\n" % number for number in range(lines))
    new = b"".join(b"x\n" if number % 2 else b"%d\n" % number for number in range(lines))
    places = [{"path": "a.py", "line": line} for line in range(50)]
    finding = {"code": "DEV101", "message": "m", "status": "fixed", "path": "b.py", "line": 1, "lines": places}
    found, _ = compared(old, new)
    started = time.perf_counter()

    build_suggestions({"a.py": old}, {"a.py": new}, found, {}, [finding] * 500, [(hunk.position,) for hunk in found])

    assert time.perf_counter() - started < LIMIT_S / 2
