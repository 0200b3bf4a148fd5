"""Diffs on pages: numbered lines, and the bytes of their buttons."""

import pytest

from devfix.report.diffs import diff_view

pytest.importorskip("pygments")

DIFF = """\
--- a/train.py
+++ b/train.py
@@ -8,2 +8,2 @@ def f():
 a = 1
-b = 2
+b = 3
\\ No newline at end of file
--- a/notes.txt
+++ b/notes.txt
@@ -1 +0,0 @@
--- x
"""


def text(line):
    return "".join(piece.text for piece in line.pieces)


def test_lines_have_their_numbers_and_their_kinds():
    first, second = diff_view(DIFF).files

    assert [(line.kind, line.old, line.new, text(line)) for line in first.lines] == [
        ("hunk", "", "", "@@ line 8 def f():"),
        ("", "8", "8", "a = 1"),
        ("removed", "9", "", "b = 2"),
        ("added", "", "9", "b = 3"),
        ("note", "", "", " No newline at end of file"),
    ]
    assert (first.path, first.added, first.removed) == ("train.py", 1, 1)
    assert [(line.mark, text(line)) for line in second.lines[1:]] == [("-", "-- x")]


def test_what_is_downloaded_is_the_patch_byte_for_byte():
    assert diff_view(DIFF).patch == DIFF.encode()
    assert diff_view(DIFF.rstrip("\n")).patch == DIFF.encode()
    assert diff_view("-- a\n", b"x\xff").patch == b"x\xff"


def test_without_a_change_there_is_nothing():
    view = diff_view("", b"")

    assert not view and view.files == [] and view.patch == b""
