"""Hovering: the rule's documentation on a finding, and where a value lives anywhere else."""

from __future__ import annotations

import textwrap

import pytest

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(x)


model = Net()
model.to(device)
loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.ones(8, 2)), batch_size=2)
for x, y in loader:
    x = x.to(device)
    loss = model(x).sum()
    total = loss.item()


def unreached(given):
    made = torch.zeros(2)
    return made, given
"""


@pytest.fixture
def over(write, desk):
    """What is shown over the ``nth`` occurrence of a word; the program must be open."""

    def call(word: str, nth: int = 0, text: str = PROGRAM) -> str | None:
        content = textwrap.dedent(text).lstrip()
        if "train.py" not in desk._versions:
            desk.open("train.py", content)
        offset = -1
        for _ in range(nth + 1):
            offset = content.index(word, offset + 1)
        line = content.count("\n", 0, offset)
        return desk.hover("train.py", line, offset - (content.rfind("\n", 0, offset) + 1))

    return call


@pytest.mark.parametrize(
    ("word", "nth", "expected"),
    [
        pytest.param("device = ", 0, "`device`: device: accelerator", id="a-device"),
        pytest.param("model = ", 0, "`model`: module on cpu", id="before-the-move"),
        pytest.param("model(x)", 0, "`model`: module on accelerator (`device`), moved at line 18", id="after-the-move"),
        pytest.param("head(x)", 0, "`self.head`: module on accelerator (`device`), moved at line 18", id="a-part"),
        pytest.param("x.to", 0, "`x`: tensor on cpu", id="of-a-batch"),
        pytest.param("x).sum", 0, "`x`: tensor on accelerator", id="a-moved-batch"),
        pytest.param("loss.item", 0, "`loss`: tensor on accelerator", id="computed"),
        pytest.param("made, given", 0, "`made`: tensor on cpu", id="where-no-program-gets-to"),
        pytest.param("given\n", 0, None, id="an-argument-that-nobody-gives"),
        pytest.param("total", 0, None, id="a-number"),
        pytest.param("import", 0, None, id="no-value"),
        pytest.param("torch.randn", 0, None, id="a-module-of-python"),
    ],
)
def test_a_value_is_told_where_it_lives(over, word, nth, expected):
    assert over(word, nth) == expected


def test_what_depends_on_the_path_is_said_to(over):
    program = """
    import sys

    import torch

    x = torch.ones(3)
    if len(sys.argv) > 1:
        x = x.cuda()
    print(x)
    """

    assert over("x)", text=program) == "`x`: tensor on cpu or accelerator, depending on the path"


def test_a_value_that_one_path_does_not_know_has_no_word(over):
    program = """
    import sys

    import torch
    from elsewhere import given

    x = torch.ones(3)
    if len(sys.argv) > 1:
        x = given()
    print(x)
    """

    assert over("x)", text=program) is None


def test_arguments_are_what_another_file_gives(write, desk):
    write(
        {
            "train.py": """
            import torch
            from parts import Head

            head = Head().cuda()
            print(head(torch.ones(3, 4, device="cuda")))
            """,
            "parts.py": """
            from torch import nn


            class Head(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(4, 2)

                def forward(self, x):
                    return self.layer(x)
            """,
        }
    )
    desk.open("parts.py")
    told = "`self.layer`: module on accelerator, moved at train.py:4"
    desk.eventually(lambda: desk.hover("parts.py", 9, 20) == told)  # first, any caller is all that is known

    assert desk.hover("parts.py", 9, 26) == "`x`: tensor on accelerator"


def test_a_finding_is_explained(write, desk):
    write({"train.py": "import torch\n\nmodel = torch.nn.Linear(4, 2).cuda()\nx = torch.ones(3, 4)\nmodel(x)\n"})
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")

    told = desk.hover("train.py", 3, 6)

    assert told.startswith("**DEV102 tensor-without-device**: `x` is created on the CPU")
    assert "## Why is this bad?" in told


def test_nothing_is_said_while_the_syntax_is_wrong(over, desk):
    assert over("x.to") is not None

    desk.change("train.py", (0, 0, 0, 0, "("))

    assert over("x.to") is None
