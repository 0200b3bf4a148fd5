"""Suppressions and configuration with the real rules."""

import pytest

BROKEN = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
model.to(device)
model[1] = nn.Linear(4, 3){comment}
for _ in range(3):
    model(torch.randn(8, 4).to(device)).sum().backward()
"""


@pytest.fixture
def concise(inside, project):
    def call(comment="", *flags):
        (project / "train.py").write_text(BROKEN.format(comment=comment))
        result = inside("check", ".", "--output-format", "concise", *flags)
        return result.code, result.stdout.decode().splitlines()

    return call


def test_a_finding(concise):
    code, lines = concise()

    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith("train.py:7:1: DEV201 [*] ")


@pytest.mark.parametrize(
    "comment",
    ["# devfix: ignore[DEV201] on purpose", "# noqa: DEV201", "# noqa", "# devfix: ignore[replaced-submodule]"],
)
def test_a_comment_answers_for_it(concise, comment):
    assert concise("  " + comment) == (0, [])


def test_a_comment_that_is_not_needed_is_told(concise):
    code, lines = concise("  # devfix: ignore[DEV201, DEV301]")

    assert code == 0
    assert lines == ["train.py:7: unused suppression (DEV301); remove the comment"]


def test_a_file_can_ask_to_be_skipped(concise):
    assert concise("\n# devfix: skip-file") == (0, [])


def test_selection_by_flag_and_file(concise, project):
    assert concise("", "--ignore", "DEV2") == (0, [])
    assert concise("", "--select", "batch-not-moved") == (0, [])
    (project / "pyproject.toml").write_text('[tool.devfix]\nper-file-ignores = {"train.py" = ["DEV201"]}\n')
    assert concise() == (0, [])
    assert concise("", "--isolated")[0] == 1
