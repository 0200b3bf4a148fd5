"""What a run without an accelerator comes to only after a failure that no finding names."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import SourceFile

CODE = "DEV501"
LIBRARY = """\
import torch


def bias():
    {body}
"""
PROGRAM = """\
import library
import sys
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
{first}
{second}
"""
HERE = "x = model(torch.ones(4, 3).cuda())"
THERE = "b = library.bias()"
ALWAYS = "return torch.ones(3).cuda()"
IN_SOME_ROUND = "while True:\n        if torch.rand(1) > 0.5:\n            return torch.ones(3).cuda()"


def levels(tmp_path, body, first, second):
    """Return the levels of the findings in the program itself."""
    (tmp_path / "library.py").write_text(LIBRARY.format(body=body), encoding="utf-8")
    text = PROGRAM.format(first=first, second=second)
    source = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))
    findings = [each.finding for each in outcome.resolutions]
    return [finding.severity for finding in findings if finding.path.endswith("train.py")]


@pytest.mark.parametrize(
    ("body", "first"),
    [
        pytest.param(ALWAYS, THERE, id="a-call"),
        pytest.param(ALWAYS, f"for _ in range(3):\n    {THERE}", id="in-a-loop"),
        pytest.param(ALWAYS, f"with torch.no_grad():\n    {THERE}", id="in-a-block"),
        pytest.param(IN_SOME_ROUND, THERE, id="some-round"),
    ],
)
def test_what_comes_after_an_unnamed_failure_is_latent(tmp_path, body, first):
    assert levels(tmp_path, body, first, HERE) == [Severity.LATENT]


@pytest.mark.parametrize(
    ("body", "first", "second"),
    [
        pytest.param(ALWAYS, HERE, THERE, id="before-it"),
        pytest.param(ALWAYS, f"if sys.argv[1:]:\n    {THERE}", HERE, id="on-a-branch"),
        pytest.param(ALWAYS, f"if sys.argv[1:]:\n    {THERE}\nelse:\n    {HERE}", "", id="on-the-other-branch"),
        pytest.param(ALWAYS, f"try:\n    {THERE}\nexcept RuntimeError:\n    b = 0", HERE, id="tried"),
        pytest.param(f"if torch.rand(1) > 0.5:\n        {ALWAYS}", THERE, HERE, id="a-branch-of-the-function"),
        pytest.param("return torch.ones(3)", THERE, HERE, id="no-failure"),
    ],
)
def test_what_may_be_reached_without_that_failure_is_an_error(tmp_path, body, first, second):
    assert levels(tmp_path, body, first, second) == [Severity.ERROR]


def test_a_failure_that_is_named_hides_nothing(tmp_path):
    first = "model(torch.ones(4, 3).cuda())"

    assert levels(tmp_path, ALWAYS, first, HERE) == [Severity.ERROR] * 2
