"""Leaving out one hunk of a patch after the other."""

from __future__ import annotations

from devfix.trace.repair.edited_sources import EditedSources
from devfix.trace.repair.minimize import without_each

OLD = b"a = 1\nb = 2\nc = 3\nd = 4\n"


def patches(folder, changes, base=None):
    return [texts.changes for texts in without_each(EditedSources(folder, changes), base or {})]


def test_one_hunk_is_needed_and_nothing_is_left_out(tmp_path):
    (tmp_path / "a.py").write_bytes(OLD)

    assert patches(tmp_path, {"a.py": OLD.replace(b"1", b"one")}) == []


def test_each_hunk_of_a_file_is_left_out_once(tmp_path):
    (tmp_path / "a.py").write_bytes(OLD)
    new = b"a = one\nb = 2\nnew = 1\nc = 3\n"

    found = patches(tmp_path, {"a.py": new})

    assert [each["a.py"] for each in found] == [
        b"a = 1\nb = 2\nnew = 1\nc = 3\n",
        b"a = one\nb = 2\nc = 3\n",
        b"a = one\nb = 2\nnew = 1\nc = 3\nd = 4\n",
    ]


def test_a_file_with_one_hunk_leaves_the_patch(tmp_path):
    (tmp_path / "a.py").write_bytes(OLD)
    (tmp_path / "b.py").write_bytes(OLD)
    a, b = OLD.replace(b"1", b"one"), OLD.replace(b"4", b"four")

    assert patches(tmp_path, {"a.py": a, "b.py": b}) == [{"b.py": b}, {"a.py": a}]


def test_what_the_search_began_with_is_not_in_question(tmp_path):
    (tmp_path / "a.py").write_bytes(OLD)
    base = OLD.replace(b"1", b"one")
    new = base.replace(b"2", b"two").replace(b"d = 4\n", b"")

    found = patches(tmp_path, {"a.py": new}, {"a.py": base})

    assert len(found) == 2
    assert all(b"one" in each["a.py"] for each in found)
    assert patches(tmp_path, {"a.py": base}, {"a.py": base}) == []
