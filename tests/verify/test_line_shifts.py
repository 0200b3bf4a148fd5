"""By how many lines a patch moves the source."""

from __future__ import annotations

from pathlib import Path

from devfix.verify.line_shifts import line_shifts


def project(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_changes_shift_the_lines_below_them(tmp_path: Path) -> None:
    original = project(tmp_path / "a", train="a\nb\nc\nd\n", model="a\nb\n")

    assert line_shifts(original, original, {}) == {0}
    assert line_shifts(original, original, {"train.py": b"a\nx\ny\nb\nc\nd\n"}) == {0, 2}
    assert line_shifts(original, original, {"model.py": b"b\n"}) == {0, -1}
    assert line_shifts(original, original, {"new.py": b"a\n", "notes.txt": b"a\n"}) == {0}


def test_folders_are_compared_file_by_file(tmp_path: Path) -> None:
    original = project(tmp_path / "a", train="a\nb\n", model="a\nb\n")
    patched = project(tmp_path / "b", train="a\nx\nb\n", model="a\nb\n")

    assert line_shifts(original, patched, {}) == {0, 1}
