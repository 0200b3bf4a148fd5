"""``devfix port``: it previews, checks and writes as ``apply`` does, and brings its own selection of rules."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from devfix.cli import cli

BEFORE = "import torch\nx = torch.rand(3).cuda()\n"
CHOICE = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'
AFTER = f"import torch\ndevice = {CHOICE}\nx = torch.rand(3).to(device)\n"


@pytest.fixture
def port(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(BEFORE, encoding="utf-8")

    def call(*arguments: str):
        return CliRunner().invoke(cli, ["port", "--no-cache", "--isolated", *arguments, str(script)]), script

    return call


def test_it_writes_the_ported_program(port):
    result, script = port()

    assert result.exit_code == 0
    assert script.read_text(encoding="utf-8") == AFTER
    assert port_again(script).exit_code == 0
    assert script.read_text(encoding="utf-8") == AFTER


def port_again(script):
    return CliRunner().invoke(cli, ["port", "--no-cache", "--isolated", "--check", str(script)])


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_a_preview_exits_with_1_and_writes_nothing(option, port):
    result, script = port(option)

    assert result.exit_code == 1
    assert script.read_text(encoding="utf-8") == BEFORE
    assert ("+x = torch.rand(3).to(device)" in result.stdout) is (option == "--diff")


@pytest.mark.parametrize(
    ("readme", "options", "noted"),
    [
        ("Tested with PyTorch 0.3.1\n", (), True),
        ("Tested with PyTorch 0.3.1\n", ("--target-torch", "2.4"), False),
        ("Tested with PyTorch 1.0\n", (), False),
    ],
)
def test_it_says_that_an_old_release_has_no_devices(port, tmp_path, readme, options, noted):
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")

    result, _ = port("--diff", *options)

    assert ("the edits require PyTorch 0.4, and the project names 0.3" in result.stderr) is noted


def test_the_readme_beside_a_changed_file_may_name_the_release(port, tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "README.md").write_text("PyTorch (works on version 0.2)\n", encoding="utf-8")
    (tmp_path / "part" / "run.py").write_text("import torch\nprint(torch.ones(2).cuda())\n", encoding="utf-8")

    result, _ = port("--diff", str(tmp_path))

    assert "the edits require PyTorch 0.4, and the project names 0.2" in result.stderr


def test_rules_are_not_selected(port):
    result, _ = port("--select", "DEV101")

    assert result.exit_code == 2
