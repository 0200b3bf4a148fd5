"""Code actions: what the client would write."""

from __future__ import annotations

import pytest
from lsprotocol import types

from devfix.lsp.documents import Text

TWO = """
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
x = torch.ones(3, 4)
y = torch.zeros(3, 2)
print(model(x) + y)
"""
FIXED = """
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
x = torch.ones(3, 4, device=device)
y = torch.zeros(3, 2, device=device)
print(model(x) + y)
""".lstrip()
UNSAFE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


device = torch.device("cuda")
model = Net().to(device)
print(model(torch.ones(2, 4, device=device)))
"""


def written(text: str, edits: list[types.TextEdit]) -> str:
    """The text after the edits of a client, which all speak of the text as it was."""
    before = Text(text)
    for edit in sorted(edits, key=lambda each: before.offset(each.range.start), reverse=True):
        start, end = before.offset(edit.range.start), before.offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def after(text: str, action: types.CodeAction) -> str:
    """What one file becomes by an action that touches no other."""
    (change,) = action.edit.document_changes
    return written(text, change.edits)


@pytest.fixture
def opened(write, desk):
    """Open a program, and wait for its findings; gives the editor and the text."""

    def call(text: str, *codes: str):
        write({"train.py": text})
        content = desk.open("train.py")
        desk.wait_for("train.py", *codes)
        return desk, content

    return call


def titles(actions: list[types.CodeAction]) -> list[str]:
    return [action.title for action in actions]


def at(line: int) -> types.Range:
    return types.Range(types.Position(line, 5), types.Position(line, 5))


def test_each_finding_has_its_repair(opened):
    desk, text = opened(TWO, "DEV102", "DEV102")

    fix, ignore = desk.actions("train.py", at(4), [types.CodeActionKind.QuickFix])

    assert fix.title.startswith("DEV102: ") and "(unsafe)" not in fix.title
    assert fix.is_preferred is True
    assert [each.range.start.line for each in fix.diagnostics] == [4]
    assert after(text, fix) == text.replace("ones(3, 4)", "ones(3, 4, device=device)")
    (change,) = fix.edit.document_changes
    assert change.text_document.version == 1
    assert ignore.title == "DEV102: ignore with a comment"


def test_a_repair_holds(opened):
    desk, text = opened(TWO, "DEV102", "DEV102")

    fix, _ = desk.actions("train.py", at(4), [types.CodeActionKind.QuickFix])
    desk.change("train.py", after(text, fix))

    (left,) = desk.wait_for("train.py", "DEV102")
    assert left.range.start.line == 5


def test_all_safe_repairs_of_the_file_are_one_action(opened):
    desk, text = opened(TWO, "DEV102", "DEV102")

    (fix,) = desk.actions("train.py", only=["source.fixAll"])

    assert fix.kind == "source.fixAll.devfix"
    assert after(text, fix) == FIXED
    desk.change("train.py", after(text, fix))
    desk.wait_for("train.py")
    assert desk.actions("train.py", only=["source.fixAll"]) == []


def test_an_unsafe_repair_says_so_and_is_not_made_with_the_others(opened):
    desk, text = opened(UNSAFE, "DEV203")

    actions = desk.actions("train.py", only=[types.CodeActionKind.QuickFix])
    unsafe = next(action for action in actions if "(unsafe)" in action.title)

    assert not unsafe.is_preferred
    assert "nn.ModuleList(" in after(text, unsafe)
    assert desk.actions("train.py", only=["source.fixAll.devfix"]) == []


def test_a_repair_in_another_file_is_an_edit_of_that_file(write, desk):
    folder = write(
        {
            "train.py": """
            import torch
            from parts import offset

            x = torch.ones(3, device="cuda")
            print(offset() + x)
            """,
            "parts.py": """
            import torch


            def offset():
                return torch.ones(3)
            """,
        }
    )
    train = desk.open("train.py")
    text = desk.open("parts.py")
    desk.wait_for("parts.py", "DEV102")

    fix, ignore = desk.actions("parts.py", only=[types.CodeActionKind.QuickFix])

    (change,) = fix.edit.document_changes
    assert (change.text_document.uri, change.text_document.version) == (desk.uri("train.py"), 1)
    assert "offset()" in written(train, change.edits) != train
    assert after(text, ignore) == text.replace("ones(3)", "ones(3)  # devfix: ignore[DEV102]")
    assert desk.actions("parts.py", only=["source.fixAll.devfix"]) == []
    assert (folder / "train.py").read_text() == train


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        pytest.param("x = torch.ones(3, 4)", "x = torch.ones(3, 4)  # devfix: ignore[DEV102]", id="plain"),
        pytest.param(
            "x = torch.ones(3, 4)  # four", "x = torch.ones(3, 4)  # four  # devfix: ignore[DEV102]", id="a-comment"
        ),
        pytest.param(
            "x = torch.ones(3, 4)  # devfix: ignore[DEV201] so",
            "x = torch.ones(3, 4)  # devfix: ignore[DEV201, DEV102] so",
            id="a-list",
        ),
        pytest.param(
            "x = \\\n    torch.ones(3, 4)", "x = \\\n    torch.ones(3, 4)  # devfix: ignore[DEV102]", id="continued"
        ),
    ],
)
def test_a_comment_is_written_where_it_counts(opened, statement, expected):
    text = "import torch\n\nmodel = torch.nn.Linear(4, 2).cuda()\n" + statement + "\nmodel(x)\n"
    desk, text = opened(text, "DEV102", *([None] if "DEV201" in statement else []))

    ignore = desk.actions("train.py", only=[types.CodeActionKind.QuickFix])[-1]

    assert after(text, ignore) == text.replace(statement, expected)
    desk.change("train.py", after(text, ignore))
    desk.until(lambda: "DEV102" not in desk.codes("train.py"))


def test_where_no_comment_counts_none_is_offered(opened):
    statement = 'x = torch.ones(3, 4); s = """\n"""'
    desk, _ = opened(f"import torch\n\nmodel = torch.nn.Linear(4, 2).cuda()\n{statement}\nmodel(x)\n", "DEV102")

    assert len(desk.actions("train.py", only=[types.CodeActionKind.QuickFix])) == 1


def test_windows_line_ends_stay(opened):
    desk, text = opened(TWO.lstrip().replace("\n", "\r\n"), "DEV102", "DEV102")

    (fix,) = desk.actions("train.py", only=["source.fixAll.devfix"])

    assert after(text, fix) == FIXED.replace("\n", "\r\n")


def test_a_client_without_versions_gets_plain_changes(write, editor):
    write({"train.py": TWO})
    ed = editor().start(types.ClientCapabilities())
    text = ed.open("train.py")
    ed.wait_for("train.py", "DEV102", "DEV102")

    (fix,) = ed.actions("train.py", only=["source.fixAll.devfix"])

    assert fix.edit.document_changes is None
    assert written(text, fix.edit.changes[ed.uri("train.py")]) == FIXED


def test_a_script_can_be_proved(opened):
    desk, _ = opened(TWO, "DEV102", "DEV102")

    (proof,) = desk.actions("train.py", only=["source.proof"])

    assert proof.title == "Open proof: run train.py as it is and as repaired"
    # lsprotocol's converter takes any action with a command for a bare command, and makes text of it
    assert f"'command': 'devfix.openProof', 'arguments': ['{desk.uri('train.py')}']" in str(proof.command)
