"""Diagnostics as the client sees them, on texts that nobody has saved."""

from __future__ import annotations

import pytest
from lsprotocol import types

from devfix.site import page_url

TRAIN = """
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
x = torch.ones(3, 4)
print(model(x))
"""
FIXED = TRAIN.replace("(3, 4)", "(3, 4, device=device)").lstrip()
PARTS = """
import torch

from helpers import shifted

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
print(model(shifted(torch.ones(3, 4, device=device))))
"""
HELPERS = """
import torch


def shifted(x):
    offset = torch.ones(3, 4)
    return x + offset
"""


@pytest.fixture
def opened(write, desk):
    """An editor in which train.py is open, with its one finding shown."""
    write({"train.py": TRAIN})
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")
    return desk


def test_a_finding_is_shown_with_its_story(opened):
    (found,) = opened.latest("train.py")

    assert (found.source, found.severity) == ("devfix", types.DiagnosticSeverity.Error)
    assert found.range == types.Range(types.Position(4, 4), types.Position(4, 20))
    assert found.message == "`x` is created on the CPU, but is used with tensors on the accelerator"
    assert found.code_description.href == page_url("reference/rules/DEV102")
    assert [(each.location.range.start.line, each.message) for each in found.related_information] == [
        (4, "`x` is created on the CPU here"),
        (5, "used with tensors on the accelerator here"),
    ]
    assert {each.location.uri for each in found.related_information} == {opened.uri("train.py")}


def test_the_unsaved_text_counts(opened):
    version = opened.change("train.py", FIXED)

    opened.wait_for("train.py")
    assert opened.published[-1].version == version
    assert (opened.folder / "train.py").read_text() == TRAIN.lstrip()


def test_a_piece_of_text_is_changed_in_its_place(opened):
    opened.change("train.py", (4, 19, 4, 19, ", device=device"))
    opened.wait_for("train.py")

    opened.change("train.py", (4, 19, 4, 34, ""), (0, 0, 0, 0, "# one\n# two\n"))
    (found,) = opened.wait_for("train.py", "DEV102")
    assert found.range.start.line == 6


def test_a_finding_comes_from_another_file(write, desk):
    write({"train.py": PARTS, "helpers.py": HELPERS})

    desk.open("helpers.py")

    (found,) = desk.wait_for("helpers.py", "DEV102")
    assert found.range.start.line == 4


def test_the_open_text_of_another_file_counts(write, desk):
    write({"train.py": PARTS, "helpers.py": HELPERS})
    desk.open("helpers.py")
    desk.wait_for("helpers.py", "DEV102")
    train = desk.open("train.py")

    desk.change("train.py", train.replace(", device=device)", ")").replace(".to(device)", ""))
    desk.wait_for("helpers.py")


def test_a_file_that_is_closed_is_as_on_the_disk_again(write, desk):
    write({"train.py": PARTS, "helpers.py": HELPERS})
    desk.open("helpers.py")
    desk.open("train.py", "print(1)\n")
    desk.until(lambda: desk.codes("helpers.py") == [] and desk.codes("train.py") == [])

    desk.close("train.py")

    desk.wait_for("helpers.py", "DEV102")


def test_closing_clears(opened):
    opened.close("train.py")

    opened.until(lambda: opened.latest("train.py") == [])


def test_while_the_syntax_is_wrong_what_was_shown_stays_in_its_place(opened):
    opened.change("train.py", (0, 0, 0, 0, "def half(:\n\n"))

    found, note = opened.wait_for("train.py", "DEV102", "not-analysed")
    assert found.range == types.Range(types.Position(6, 4), types.Position(6, 20))
    assert [each.location.range.start.line for each in found.related_information] == [6, 7]
    assert note.severity is types.DiagnosticSeverity.Information and note.range.start.line == 0


def test_while_the_syntax_is_wrong_other_files_keep_their_findings(write, desk):
    write({"train.py": PARTS, "helpers.py": HELPERS})
    desk.open("helpers.py")
    desk.wait_for("helpers.py", "DEV102")

    desk.change("helpers.py", (1, 0, 1, 0, "import (\n"))
    desk.wait_for("helpers.py", "DEV102", "not-analysed")
    desk.change("helpers.py", (1, 0, 2, 0, ""))
    desk.wait_for("helpers.py", "DEV102")


def test_a_changed_line_takes_its_finding_with_it_while_the_syntax_is_wrong(opened):
    opened.change("train.py", (4, 4, 4, 4, "("))

    opened.wait_for("train.py", "not-analysed")


def test_a_comment_that_suppresses_nothing_is_unnecessary(opened):
    opened.change("train.py", FIXED + "print(1)  # devfix: ignore[DEV201]\n")

    opened.until(lambda: (opened.latest("train.py") or [None])[0] and opened.latest("train.py")[0].code is None)
    (note,) = opened.latest("train.py")
    assert (note.severity, note.tags) == (types.DiagnosticSeverity.Hint, (types.DiagnosticTag.Unnecessary,))
    assert note.range == types.Range(types.Position(6, 10), types.Position(6, 34))


def test_a_comment_suppresses(opened):
    opened.change("train.py", (4, 20, 4, 20, "  # devfix: ignore[DEV102]"))

    opened.wait_for("train.py")


def test_what_the_client_cannot_show_is_in_the_message(write, editor):
    write({"train.py": TRAIN})
    ed = editor().start(types.ClientCapabilities())

    ed.open("train.py")

    (found,) = ed.wait_for("train.py", "DEV102")
    assert found.related_information is None and found.code_description is None
    assert found.message.splitlines()[1:] == [
        "train.py:5: `x` is created on the CPU here",
        "train.py:6: used with tensors on the accelerator here",
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 12), ("utf-16", 10), ("utf-32", 9), (None, 10)])
def test_columns_are_counted_as_the_client_counts(write, editor, encoding, column):
    write({"train.py": TRAIN.replace("x = torch", "a = '🙂'; x = torch")})
    general = types.GeneralClientCapabilities(
        position_encodings=[types.PositionEncodingKind(encoding)] if encoding else None
    )
    ed = editor().start(types.ClientCapabilities(general=general))

    ed.open("train.py")

    (found,) = ed.wait_for("train.py", "DEV102")
    assert ed.capabilities.position_encoding == (encoding or "utf-16")
    assert found.range.start == types.Position(4, column + 4)
    ed.change("train.py", (4, column + 19, 4, column + 19, ", device=device"))
    ed.wait_for("train.py")


def test_lines_end_where_the_protocol_and_python_end_them(write, desk):
    text = TRAIN.lstrip().replace("\n\n", "\n\x0c\n# \u2028 and \x1c\n").replace("\n", "\r\n")
    write({"train.py": ""})

    desk.open("train.py", text)

    (found,) = desk.wait_for("train.py", "DEV102")
    assert found.range == types.Range(types.Position(5, 4), types.Position(5, 20))
    desk.change("train.py", (5, 19, 5, 19, ", device=device"))
    desk.wait_for("train.py")


def test_a_new_file_without_a_name_is_followed(desk):
    uri = "untitled:Untitled-1"

    desk.client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, TRAIN)))

    desk.until(lambda: any(each.uri == uri and each.diagnostics for each in desk.published))
    (related, *_) = desk.published[-1].diagnostics[0].related_information
    assert related.location.uri == uri
    desk.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))


def test_a_file_that_is_too_long_says_so_and_the_server_goes_on(opened):
    opened.open("huge.py", "import torch\n" + "x = 1  # " + "a" * 2_000_000 + "\n")

    (note,) = opened.wait_for("huge.py", "not-analysed")
    assert "too long" in note.message
    opened.change("train.py", FIXED)
    opened.wait_for("train.py")


def test_of_many_changes_the_last_one_counts(opened):
    for number in range(30):
        opened.change("train.py", FIXED if number % 2 else TRAIN)
    last = opened.change("train.py", FIXED + "# the last\n")

    opened.until(lambda: opened.published[-1].version == last)
    assert opened.latest("train.py") == []
    assert len(opened.published) < 30


def test_what_is_no_python_is_left_alone(opened):
    item = types.TextDocumentItem(opened.uri("notes.md"), "markdown", 1, TRAIN)
    opened.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    opened.change("train.py", FIXED)
    opened.wait_for("train.py")
    assert opened.latest("notes.md") is None


def test_stubs_of_the_project_count_and_a_changed_one_is_read_again(write, desk):
    program = TRAIN.replace("import torch", "import torch, acme").replace(
        "print(model(x))", "acme.blend(x, model.weight)"
    )
    stub = "def blend(first: {}, second: On) -> On: ..."
    configuration = '[tool.devfix]\nmodels = ["stubs"]\n'
    write({"pyproject.toml": configuration, "stubs/acme.pyi": stub.format("On"), "train.py": program})
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")

    write({"stubs/acme.pyi": stub.format("Any")})
    desk.files_changed("stubs/acme.pyi")

    desk.wait_for("train.py")
