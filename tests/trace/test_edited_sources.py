"""The program's files while a repair edits them."""

from __future__ import annotations

import pytest

from devfix.model import AppendCode, InsertStatement, Span, Where
from devfix.trace.failure_trace import Position
from devfix.trace.repair.edited_sources import EditedSources


@pytest.fixture
def told(program):
    return program("""\
        import torch
        a = torch.ones(3); b = torch.zeros(3)
        c = (
            a + b
        )
        """)


def appended(told, fragment, code=".cuda()"):
    at = told.at(fragment)
    return AppendCode(told.file, Span(*at.span), code)


def test_edits_make_another_program_and_write_nothing(told):
    after = told.edited.after([appended(told, "torch.ones(3)"), appended(told, "torch.zeros(3)")])

    assert after.text("train.py") == told.text.replace("(3)", "(3).cuda()")
    assert after.changes == {"train.py": after.content("train.py")}
    assert (told.root / "train.py").read_text() == told.text


def test_bytes_outside_of_the_edit_stay(program):
    told = program("x = torch.ones(3)\n")
    raw = b"\xef\xbb\xbf# caf\xc3\xa9\r\nx = torch.ones(3)\t# why\r\n\r\nlast"
    (told.root / "train.py").write_bytes(raw)
    edit = AppendCode("train.py", Span(2, 4, 2, 17), ".cuda()")

    assert told.edited.after([edit]).changes["train.py"] == raw.replace(b"ones(3)", b"ones(3).cuda()")


def test_the_node_at_a_position(told):
    tree, node = told.edited.node_at(told.at("torch.zeros(3)"))
    assert tree.source(node) == "torch.zeros(3)"

    without_span = Position("train.py", 4, "<module>", "a + b")
    assert told.edited.node_at(without_span) is None  # no statement begins here, and no call
    _, statement = told.edited.node_at(Position("train.py", 3, "<module>", "c = ("))
    assert statement.lineno == 3


@pytest.mark.parametrize("path", ["../outside.py", "missing.py", "broken.py", "binary.py", "/etc/passwd"])
def test_what_cannot_be_edited_has_no_tree(told, path):
    (told.root.parent / "outside.py").write_text("x = 1\n")
    (told.root / "broken.py").write_text("def (:\n")
    (told.root / "binary.py").write_bytes(b"\xff\x00")

    assert told.edited.tree(path) is None


def test_a_link_out_of_the_project_has_no_tree(told, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-linked.py"
    outside.write_text("x = 1\n")
    (told.root / "linked.py").symlink_to(outside)

    assert told.edited.tree("linked.py") is None


def test_a_file_is_read_once_for_the_whole_search(told):
    texts = told.edited
    after = texts.after([appended(told, "torch.ones(3)")])
    (told.root / "train.py").write_text("edited = 'by somebody else'\n")

    again = after.after([])

    assert again.originals["train.py"].decode() == told.text
    assert EditedSources(told.root, {}, again.originals).text("train.py") == told.text


def test_lines_are_told_as_they_are_on_the_disk(told):
    at = told.at("a + b")
    inserted = InsertStatement("train.py", Span(2, 0, 2, 17), Where.BEFORE, "import os")
    after = told.edited.after([inserted, appended(told, "a + b")])

    assert after.text("train.py").splitlines()[at.line :] == ["    a + b", ").cuda()"]
    assert [after.line_on_disk("train.py", line) for line in (1, 2, 3, 4, 5, 6)] == [1, 2, 2, 3, 4, 5]
    assert told.edited.line_on_disk("train.py", 4) == 4
