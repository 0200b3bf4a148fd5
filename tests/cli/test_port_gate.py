"""``devfix port``: its devices, its release of PyTorch, its baseline, and settings in YAML and JSON."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from devfix.cli import cli

TEXT = "import torch\n\nstream = torch.cuda.Stream()\ntorch.cuda.synchronize()\nprint(torch.ones(3))\n"
HEAD = "# Places that require CUDA, by rule and file."


@pytest.fixture
def port(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TEXT, encoding="utf-8")

    def call(*arguments: str):
        return CliRunner().invoke(cli, ["port", "--no-cache", "--isolated", "-j", "1", *arguments])

    return call


def counted(folder) -> list[str]:
    first, *lines = (folder / "port.txt").read_text(encoding="utf-8").splitlines()
    assert first.startswith(HEAD)
    return lines


def test_the_first_baseline_has_all_places(port, tmp_path):
    result = port("--check", "--baseline", "port.txt", "--update-baseline")

    assert result.exit_code == 0
    assert counted(tmp_path) == ["DEV812 2 train.py"]
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == TEXT
    assert port("--check", "--baseline", "port.txt").exit_code == 0


def test_a_new_place_is_named(port, tmp_path):
    (tmp_path / "port.txt").write_text("DEV812 2 train.py\n", encoding="utf-8")
    (tmp_path / "model.py").write_text(TEXT.replace("torch.cuda.synchronize()\n", ""), encoding="utf-8")

    result = port("--check", "--baseline", "port.txt")

    assert result.exit_code == 1
    assert "model.py:3:10" in result.stdout
    assert "train.py" not in result.stdout


def test_one_place_more_in_a_known_file_is_a_rise(port, tmp_path):
    (tmp_path / "port.txt").write_text("DEV812 1 train.py\n", encoding="utf-8")

    result = port("--check", "--baseline", "port.txt")

    assert result.exit_code == 1
    assert "train.py:3:10" in result.stdout
    assert "DEV812: 2 places, and the baseline has 1" in result.stderr


def test_a_fall_tells_how_to_lower_the_baseline(port, tmp_path):
    (tmp_path / "port.txt").write_text("DEV812 5 train.py\nDEV811 3 gone.py\n", encoding="utf-8")

    result = port("--check", "--baseline", "port.txt")

    assert result.exit_code == 0
    assert "DEV812: 2 of 5 places are left" in result.stderr
    assert "--update-baseline" in result.stderr
    assert port("--check", "--baseline", "port.txt", "--update-baseline").exit_code == 0
    assert counted(tmp_path) == ["DEV812 2 train.py"]


def test_an_update_never_raises_a_count(port, tmp_path):
    (tmp_path / "port.txt").write_text("DEV812 1 train.py\n", encoding="utf-8")

    assert port("--check", "--baseline", "port.txt", "--update-baseline").exit_code == 1
    assert counted(tmp_path) == ["DEV812 1 train.py"]


def test_files_that_are_not_checked_keep_their_counts(port, tmp_path):
    (tmp_path / "port.txt").write_text("DEV812 4 other.py\nDEV812 2 train.py\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("import torch\n", encoding="utf-8")

    result = port("train.py", "--check", "--baseline", "port.txt", "--update-baseline")

    assert result.exit_code == 0
    assert counted(tmp_path) == ["DEV812 4 other.py", "DEV812 2 train.py"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "cpu,tpu"), "'tpu' is none of cpu, cuda, mps, xpu"),
        (("--to", ","), "',' is none of cpu, cuda, mps, xpu"),
        (("--target-torch", "new"), "'new' is no release of PyTorch such as 2.4"),
        (("--baseline", "port.txt"), "--baseline requires --check"),
        (("--check", "--update-baseline"), "--update-baseline requires --baseline FILE"),
        (("--check", "--baseline", "port.txt", "--since", "main"), "cannot be combined with --since"),
        (("--check", "--baseline", "port.txt"), "there is no baseline: write it with --update-baseline"),
    ],
)
def test_a_mistake_is_one_line(arguments, message, port):
    result = port(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr


def test_a_file_that_is_no_baseline_is_named_with_the_line(port, tmp_path):
    (tmp_path / "port.txt").write_text("DEV812 1 train.py\n3 places\n", encoding="utf-8")

    result = port("--check", "--baseline", "port.txt")

    assert result.exit_code == 2
    assert "port.txt:2: is not a line of a baseline" in result.stderr


def test_devices_and_release_reach_the_rules(port, tmp_path):
    port("--to", "cpu,mps", "--target-torch", "2.6")

    text = (tmp_path / "train.py").read_text(encoding="utf-8")
    assert "if torch.accelerator.is_available():\n    torch.accelerator.synchronize()\n" in text


def test_devices_in_settings_are_listed(port, tmp_path):
    (tmp_path / "train.yaml").write_text("model: cuda\ndevice: cuda:0  # the first\nlr: 1\n", encoding="utf-8")
    (tmp_path / "run.json").write_text('{\n  "train_device": "cuda",\n  "name": "cuda"\n}\n', encoding="utf-8")

    told = [line for line in port("--check").stderr.splitlines() if "the setting" in line]

    assert [line.partition(" requires")[0] for line in told] == [
        "devfix: note: run.json:2: the setting `train_device: cuda`",
        "devfix: note: train.yaml:2: the setting `device: cuda:0`",
    ]


def test_a_setting_that_the_program_replaces_without_cuda_is_not_listed(port, tmp_path):
    (tmp_path / "train.yaml").write_text("device: cuda\n", encoding="utf-8")
    update = 'import torch\n\n\ndef update(config):\n    if not torch.cuda.is_available():\n        config.{} = "cpu"\n'
    told = []
    for name in ("device", "other"):
        (tmp_path / "update.py").write_text(update.format(name), encoding="utf-8")
        told.append("the setting `device: cuda`" in port("--check").stderr)

    assert told == [False, True]
