"""What a run produced, collected from its folders."""

from __future__ import annotations

import os

import pytest

from devfix.verify.outputs import Captured, File, Outputs, collect, snapshot
from devfix.verify.outputs.values import array_of

from .written import document, printed, report


def test_files_of_every_kind_are_collected(tmp_path):
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "old.json").write_text("{}")
    before = snapshot({"": tmp_path})
    (tmp_path / "metrics.json").write_text('{"accuracy": 0.75}')
    (tmp_path / "log.txt").write_text("loss 0.5\n")
    (tmp_path / "copy.py").write_text("print(1)\n")
    (tmp_path / "old.json").unlink()
    os.symlink("log.txt", tmp_path / "latest")
    os.mkfifo(tmp_path / "pipe")

    found = collect(before, Captured("loss 0.5\n"))

    assert {name: file.kind for name, file in found.files.items()} == {
        "copy.py": "copy",
        "latest": "link",
        "log.txt": "text",
        "metrics.json": "values",
        "old.json": "deleted",
        "pipe": "unreadable",
    }
    assert found.summary == (
        ("printed output", "1 line"),
        ("copy.py", "a copy of train.py"),
        ("latest", "a link to log.txt"),
        ("log.txt", "2 lines"),
        ("metrics.json", "1 value"),
        ("old.json", "deleted"),
        ("pipe", "unreadable: it is no regular file"),
    )


def test_a_run_that_writes_nothing_produced_nothing(tmp_path):
    assert collect(snapshot({"": tmp_path}), Captured("")) == Outputs(("",))


def test_the_end_of_a_long_output_is_kept_apart(tmp_path):
    found = collect(snapshot({"": tmp_path}), Captured("a\n", "z\n", 5, "digest"))

    assert (found.lines, found.tail, found.omitted, found.omitted_digest) == (("a", ""), ("z", ""), 5, "digest")


@pytest.mark.parametrize(
    ("outputs", "evidence"),
    [
        (printed("done\nepoch 3 took 0.5 s"), False),
        (printed("accuracy 0.75"), True),
        (report("accuracy 0.75"), True),
        (document({"accuracy": 0.75}), True),
        (document({"epochs": 3, "name": "x"}), False),
        (document({"w": array_of("float32", (1,), b"\0\0\0\0")}), True),
        (Outputs(files={"a.png": File("image", values={"": array_of("bytes", (1,), b"x")})}), False),
    ],
)
def test_computed_numbers_are_evidence(outputs, evidence):
    assert outputs.is_evidence == evidence
