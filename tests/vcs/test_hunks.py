"""Diffs are read by place, and their code is highlight as what it is."""

import pytest

from devfix.model import FileChange, Patch
from devfix.vcs import unified_diff
from devfix.vcs.hunks import Hunk, Piece, highlight, highlight_python, read

pytest.importorskip("pygments")


def unified(old, new, path="train.py"):
    return unified_diff.unified(Patch((FileChange(path, old.encode(), new.encode()),))).decode()


def kinds(pieces):
    return {piece.text.strip(): piece.kind for piece in pieces}


def test_a_diff_of_ours_is_read_whole():
    old, new = "a = 1\nb = 2\nc = 3", "a = 1\nb = 20\nd = 4\nc = 3"

    (file,) = read(unified(old, new))

    assert file.path.endswith("train.py") and (file.count("+"), file.count("-")) == (2, 1)
    (hunk,) = file.hunks
    assert (hunk.old, hunk.new) == (1, 1)
    assert [line.mark for line in hunk.lines] == [" ", "-", "+", "+", " ", "\\"]
    assert "\n".join(line.code for line in hunk.lines if line.mark in " -") == old
    assert "\n".join(line.code for line in hunk.lines if line.mark in " +") == new


def test_lines_that_look_like_names_are_lines():
    old, new = "-- a\n@@ -1 +1 @@\nx\n", "++ b\n@@ -1 +1 @@\ny\n"

    (file,) = read(unified(old, new))

    assert [line.mark + line.code for line in file.hunks[0].lines if line.mark in "+-"] == [
        "--- a",
        "+++ b",
        "-x",
        "+y",
    ]


def test_files_begin_at_their_names_with_git_or_without():
    parts = [unified("a\n", "b\n", name) for name in ("one.py", "two.py")]
    without = "".join(part.split("\n", 1)[1] for part in parts)

    assert [len(read(text)) for text in ("".join(parts), without)] == [2, 2]
    assert [file.path[-6:] for file in read(without)] == ["one.py", "two.py"]


@pytest.mark.parametrize("name", ['q"uote.py', "back\\slash.py", "größe.py", "a space.py", "tab\tbed.py"])
def test_names_are_read_as_they_were(name):
    (file,) = read(unified("a\n", "b\n", name))

    assert file.path.endswith(name)


def test_a_file_that_goes_has_the_name_it_had():
    (file,) = read("diff --git a/x.py b/x.py\ndeleted file mode 100644\n--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")

    assert (file.path, file.other_lines) == ("x.py", ["deleted file mode 100644"])


@pytest.mark.parametrize("text", ["", "no diff", "@@ -1,9 +1,9 @@\n a", "@@ -1 +1 @@\nwhat", "--- a\n+++ b\n"])
def test_what_is_no_whole_diff_is_read_as_far_as_it_goes(text):
    assert sum(len(file.hunks) for file in read(text)) <= 1


def test_each_side_is_coloured_in_its_own_right():
    old, new = "def f(x):\n    return 'a'\n", "def f(x):\n    return 10  # ten\n"
    hunk = read(unified(old, new))[0].hunks[0]

    head, removed, added = highlight("train.py", hunk)

    assert kinds(head) | {"def": "keyword", "f": "name"} == kinds(head)
    assert kinds(removed) == {"return": "keyword", "'a'": "string"}
    assert kinds(added) == {"return": "keyword", "10": "number", "# ten": "comment"}


def test_no_character_is_lost():
    old = 'x = """a\n\tb\n\n"""  # é\r\ny = f"{x!r:>{w}}" @ z\n$ ?\n'
    hunk = read(unified(old, old.replace("z", "w")))[0].hunks[0]

    pieces = highlight("train.py", hunk)

    assert ["".join(piece.text for piece in line) for line in pieces] == [line.code for line in hunk.lines]


def test_a_hunk_that_begins_in_a_string_is_read_as_that():
    filler = "\n".join(f"    words {number}" for number in range(9))
    old = f'def f(x):\n    """Begin.\n{filler}\n    it\'s the end.\n    """\n    y = x + 1\n    return y\n'
    hunk = read(unified(old, old.replace("x + 1", "x + 2")))[0].hunks[0]

    pieces = highlight("train.py", hunk)

    assert '"""Begin' not in "".join(line.code for line in hunk.lines)
    changed = [kinds(found) for line, found in zip(hunk.lines, pieces, strict=True) if line.mark in "+-"]
    assert [found["1" if "1" in found else "2"] for found in changed] == ["number", "number"]
    assert kinds(pieces[0]) == {"words 8": "string"}


@pytest.mark.parametrize("path", ["notes.txt", "Makefile", "train.py"])
def test_what_is_no_code_or_too_much_is_not_coloured(path):
    code = "return 1" if path != "train.py" else "x = 1  " * 20_000
    hunk = read(unified("a\n", code + "\n", path))[0].hunks[0]

    assert highlight(path, hunk) == [[Piece("", line.code)] for line in hunk.lines]


def test_a_hunk_without_lines_has_no_colours():
    assert highlight("train.py", Hunk(1, 1, "")) == []


def test_a_cell_of_a_notebook_is_python():
    (file,) = read("--- a/a.ipynb:cell 3\n+++ b/a.ipynb:cell 3\n@@ -1 +1 @@\n-import torch\n+import numpy")
    pieces = [piece for line in highlight(file.path, file.hunks[0]) for piece in line]

    assert {piece.kind for piece in pieces if piece.text.strip() == "import"} == {"keyword"}


def test_a_python_file_is_highlighted_line_by_line():
    lines = ["def f():", '    """Two', '    lines."""', "    return 1"]

    pieces = highlight_python(lines)

    assert ["".join(piece.text for piece in line) for line in pieces] == lines
    assert {piece.kind for piece in pieces[2] if piece.text.strip()} == {"string"}
    assert ("keyword", "return") in [(piece.kind, piece.text.strip()) for piece in pieces[3]]
