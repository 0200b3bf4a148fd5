"""``devfix trace`` from outside."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from devfix.cli import cli

BROKEN = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
model.to(device)
model[1] = nn.Linear(3, 2)
print(model(torch.ones(2, 3, device=device)).sum().item())
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "train.py").write_text(text)
        return "train.py"

    return write


def traced(*arguments):
    return CliRunner().invoke(cli, ["trace", *arguments])


def test_the_story_and_the_edit_of_a_device_error(script):
    done = traced(script(BROKEN))
    assert done.exit_code == 1, done.output
    assert "✗ model[1].weight  float32 (3, 2) on the CPU" in done.stdout
    assert "after `model.to(device)` at train.py:5" in done.stdout
    assert "DEV201 replaced-submodule" in done.stdout
    assert "+model.to(device)" in done.stdout
    assert "devfix apply train.py" in done.stdout


def test_the_project_is_left_as_it_is_and_files_are_named_from_here(script, tmp_path, monkeypatch):
    script(BROKEN)
    (tmp_path / "inner").mkdir()
    (tmp_path / "train.py").rename(tmp_path / "inner" / "train.py")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    done = traced("train.py", "--output-format", "json")
    document = json.loads(done.stdout)
    assert document["exit_code"] == 1
    assert document["error"]["frames"][0]["path"] == "train.py"
    assert document["edit"]["command"] == "devfix apply train.py"
    assert (tmp_path / "inner" / "train.py").read_text() == BROKEN


def test_no_device_error(script):
    done = traced(script("import sys\nprint(sys.argv)\n"), "--", "--epochs", "1")
    assert done.exit_code == 0, done.output
    assert "No device error: it ran to its end." in done.stdout


def test_another_error_is_no_device_error(script):
    done = traced(script("import torch\ntorch.ones(2) + torch.ones(3)\n"))
    assert done.exit_code == 0, done.output
    assert "No device error: RuntimeError" in done.stdout
    assert "at train.py:2" in done.stdout


def test_a_device_error_without_values_has_a_cause(script):
    text = 'import torch\ng = torch.Generator()\ntorch.randn(3, generator=g, device="cuda")\n'
    done = traced(script(text))
    assert done.exit_code == 1, done.output
    assert "a generator of random numbers belongs to another device" in done.stdout
    assert "DEV603 generator-device" in done.stdout
    assert "train.py:3" in done.stdout


@pytest.mark.parametrize("arguments", [["missing.py"], ["train.py", "--epochs", "1"], ["train.py", "--device", "tpu"]])
def test_wrong_usage_is_one_line_and_code_2(script, arguments):
    script("pass\n")
    done = traced(*arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output
