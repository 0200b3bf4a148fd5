"""DEV100 by example: what certainly fails and has no other name, and what only looks as if it did."""

from __future__ import annotations

import textwrap

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Status
from devfix.sources import SourceFile

SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4, device=device)
"""

SILENT = [
    pytest.param("print(model(x) + torch.arange(2, device=device))", id="made-there"),
    pytest.param("print(model(x) + torch.arange(2).to(device))", id="moved"),
    pytest.param("print(model(x) + torch.zeros_like(model(x)))", id="made-alike"),
    pytest.param("print(model(x) * torch.tensor(0.5))", id="scalar"),
    pytest.param("print(model(x)[torch.tensor([0, 1])])", id="index"),
    pytest.param("print(model(x).cpu() + torch.ones(2))", id="both-on-the-cpu"),
    pytest.param("print(torch.ones(2) + torch.arange(2))", id="neither-is-there"),
    pytest.param("from lib import make\nprint(model(x) + make())", id="unknown"),
    pytest.param("mask = torch.ones(2)\nmask = mask.to(x)\nprint(model(x) * mask)", id="moved-like-another"),
    pytest.param("with torch.device(device):\n    print(model(x) + torch.arange(2))", id="device-context"),
    pytest.param("def late():\n    return model(x) + torch.arange(2)", id="never-called"),
]


def outcome_of(tmp_path, text):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.apply([file], Settings(root=str(tmp_path)))


@pytest.mark.parametrize("program", SILENT)
def test_nothing_is_said_where_nothing_certainly_fails(tmp_path, program):
    assert outcome_of(tmp_path, SETUP + textwrap.dedent(program) + "\n").resolutions == ()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("print(model(x) + torch.arange(2))", id="tensor-without-device"),
        pytest.param(
            "model = nn.Sequential(model).to(device)\nmodel[0] = nn.Linear(4, 2)\nmodel(x)", id="replaced-submodule"
        ),
        pytest.param("for y in torch.utils.data.DataLoader(torch.ones(8, 4)):\n    model(y)", id="batch-not-moved"),
        pytest.param("head = nn.Linear(2, 2)\nprint(head(model(x)))", id="module-not-moved"),
    ],
)
def test_a_cause_that_another_rule_names_is_told_once(tmp_path, program):
    resolutions = outcome_of(tmp_path, SETUP + program + "\n").resolutions

    assert "DEV100" not in {resolution.finding.code for resolution in resolutions}


def test_a_fault_in_a_third_party_package_is_told_as_such_and_left_alone(tmp_path):
    package = tmp_path / "vendor" / "layers.py"
    package.parent.mkdir()
    package.write_text("import torch\n\n\ndef shift(x):\n    return x + torch.arange(4)\n")
    outcome = outcome_of(tmp_path, SETUP + "from vendor.layers import shift\nshift(x)\n")
    (resolution,) = outcome.resolutions

    assert (resolution.finding.code, resolution.status) == ("DEV100", Status.NOT_FIXED)
    assert outcome.patch.files == ()
    assert resolution.finding.path.endswith("layers.py")
    assert "third-party package" in resolution.reason


def test_a_module_that_is_put_back_where_it_was_is_told_of_and_left_alone(tmp_path):
    program = (
        SETUP + "head = nn.Linear(2, 2)\nbefore = next(head.parameters()).device\nhead.to(before)\nhead(model(x))\n"
    )
    outcome = outcome_of(tmp_path, program)

    (resolution,) = outcome.resolutions
    assert (resolution.finding.code, resolution.finding.span.line) == ("DEV100", 9)
    assert resolution.status is Status.NOT_FIXED
    assert outcome.patch.files == ()
