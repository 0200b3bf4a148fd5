"""The edit that is tried first for failures of small programs: what an expert would write."""

from __future__ import annotations

import difflib
from pathlib import Path
from textwrap import dedent

import pytest

from devfix.trace.diagnosis.diagnose import diagnose, diagnose_without_values
from devfix.trace.failure_trace import Position
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.trace.repair.candidates import candidates
from devfix.trace.repair.edited_sources import EditedSources
from devfix.verify.runs import run

HEAD = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(2, 3, device=device)
"""


def first_edit(folder: Path, text: str, number: int = 0) -> list[str]:
    """The lines that a candidate takes away and adds, with their signs."""
    (folder / "train.py").write_text(HEAD + dedent(text))
    failure = read_failure_trace(run("train.py", cwd=folder, provenance=True))
    assert failure is not None
    texts = EditedSources(folder)
    tried = candidates(diagnose(failure) or diagnose_without_values(failure), texts)
    after = texts.after(tried[number].edits).content("train.py").decode()
    lines = difflib.unified_diff((HEAD + dedent(text)).splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


FIRST = {
    "a batch is moved beside its sibling": (
        """\
        data = torch.utils.data.TensorDataset(torch.ones(4, 3), torch.ones(4, 3))
        for a, b in torch.utils.data.DataLoader(data, batch_size=2):
            a = a.to(device)
            (a - b).sum()
        """,
        ["+    b = b.to(device)"],
    ),
    "all of a list that came from a loader": (
        """\
        def crops():
            for _ in range(2):
                yield [torch.ones(2, 3), torch.ones(2, 3)]
        for views in crops():
            (views[0] + x).sum()
        """,
        ["+    views = tuple(value.to(device) for value in views)"],
    ),
    "a transfer to the CPU goes elsewhere": (
        'y = torch.ones(3).to("cpu")\n(x + y).sum()\n',
        ['-y = torch.ones(3).to("cpu")', "+y = torch.ones(3).to(device)"],
    ),
    "a module that was sent to the CPU": (
        'model = nn.Linear(3, 3).to("cpu")\nmodel(x)\n',
        ['-model = nn.Linear(3, 3).to("cpu")', "+model = nn.Linear(3, 3).to(device)"],
    ),
    "the outermost construction is moved": (
        "model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())\nmodel(x)\n",
        [
            "-model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())",
            "+model = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).to(device)",
        ],
    ),
    "a list of layers is registered": (
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stack = [nn.Linear(3, 3)]
            def forward(self, x):
                for layer in self.stack:
                    x = layer(x)
                return x
        Net().to(device)(x)
        """,
        ["-        self.stack = [nn.Linear(3, 3)]", "+        self.stack = nn.ModuleList([nn.Linear(3, 3)])"],
    ),
    "a table that was computed in steps becomes a buffer": (
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                table = torch.zeros(1, 3)
                table[:, 0::2] = torch.ones(1, 2)
                self.table = table * 2
            def forward(self, x):
                return x + self.table
        Net().to(device)(x)
        """,
        [
            "-        self.table = table * 2",
            '+        self.register_buffer("table", table * 2, persistent=False)',
        ],
    ),
    "numbers are drawn where their generator is": (
        "g = torch.Generator().manual_seed(1)\ntorch.rand(3, generator=g, device=device)\n",
        [
            "-torch.rand(3, generator=g, device=device)",
            "+torch.rand(3, generator=g).to(device)",
        ],
    ),
    "a generator of the accelerator draws for the CPU": (
        "g = torch.Generator(device)\ntorch.rand(3, generator=g)\n",
        ["-g = torch.Generator(device)", "+g = torch.Generator()"],
    ),
    "an accelerator with a number that is not there": (
        'y = torch.ones(3).to("cuda:1")\n(x + y).sum()\n',
        ['-y = torch.ones(3).to("cuda:1")', "+y = torch.ones(3).to(device)"],
    ),
    "lengths are not sent away": (
        """\
        lengths = torch.tensor([3, 2])
        nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, device=device), lengths.to(device))
        """,
        [
            "-nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, device=device), lengths.to(device))",
            "+nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, device=device), lengths)",
        ],
    ),
    "a global is no local of the function that reads it": (
        """\
        y = torch.ones(3)
        def step():
            return (x + y).sum()
        step()
        """,
        ["-y = torch.ones(3)", "+y = torch.ones(3, device=device)"],
    ),
}


@pytest.mark.positions
@pytest.mark.parametrize(("text", "edit"), [pytest.param(*case, id=name) for name, case in FIRST.items()])
def test_the_first_candidate(text: str, edit: list[str], tmp_path: Path) -> None:
    assert first_edit(tmp_path, text) == edit


def test_cuda_stands_under_the_condition_of_the_file(tmp_path: Path) -> None:
    text = """\
    use_cuda = torch.cuda.is_available()
    model = nn.Linear(3, 3)
    if use_cuda:
        model.cuda()
    target = torch.ones(2, 3)
    (model(x) - target).sum()
    """
    written = ["\n".join(first_edit(tmp_path, text, number)) for number in range(4)]

    assert "+if use_cuda:\n+    target = target.cuda()" in written
    assert not any(".cuda()" in edit and "use_cuda" not in edit for edit in written)


def test_installed_packages_are_not_edited(tmp_path: Path) -> None:
    installed = tmp_path / "venv" / "lib" / "site-packages" / "layers.py"
    installed.parent.mkdir(parents=True)
    installed.write_text("import torch\ntorch.ones(3)\n")
    path = installed.relative_to(tmp_path).as_posix()

    assert EditedSources(tmp_path).tree(path) is None
    assert EditedSources(tmp_path).node_at(Position(path, 2, "<module>", "torch.ones(3)")) is None
    assert EditedSources(tmp_path).tree("../outside.py") is None
