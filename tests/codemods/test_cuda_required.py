"""DEV815 by example: checks that end the program without CUDA."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

CODE = "DEV815"
HEAD = "import sys\nimport torch\n\n"


def reported(tmp_path, text: str):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(tmp_path))).resolutions


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('assert torch.cuda.is_available(), "no GPU"\n', id="assert"),
        pytest.param("if not torch.cuda.is_available():\n    raise RuntimeError\n", id="raise"),
        pytest.param("if not torch.cuda.is_available():\n    print('no')\n    sys.exit(1)\n", id="exit"),
    ],
)
def test_a_check_that_ends_the_program_is_listed(text, tmp_path):
    (resolution,) = reported(tmp_path, HEAD + text)
    assert not resolution.finding.fixes
    assert "delete the check" in resolution.finding.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("if not torch.cuda.is_available():\n    print('slow')\n", id="goes-on"),
        pytest.param("def f():\n    if not torch.cuda.is_available():\n        return 0\n", id="returns"),
        pytest.param("if not torch.cuda.is_available() and strict:\n    raise RuntimeError\n", id="asked"),
    ],
)
def test_left_alone(text, tmp_path):
    assert reported(tmp_path, HEAD + text) == ()
