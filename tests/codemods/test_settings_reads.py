"""DEV811 where a device comes from a YAML or JSON file: the program reads it with a choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile, load

PROGRAM = """\
import torch
import yaml

with open("config.yaml") as file:
    config = yaml.safe_load(file)
model = torch.nn.Linear(4, 2)
{move}
print(model)
"""


@pytest.fixture
def ported(tmp_path, monkeypatch):
    """Return the line of a program that moves its model, after the port, for the settings of a file."""
    monkeypatch.chdir(tmp_path)

    def call(move, settings="device: cuda:0\n", name="config.yaml"):
        (tmp_path / name).write_text(settings)
        (tmp_path / "train.py").write_text(PROGRAM.format(move=move))
        settings_of_run = Settings(select=("DEV811",), root=str(tmp_path))
        files, _ = load(["train.py"])
        changes = fixpoint.apply(files, settings_of_run).patch.files
        text = changes[0].new.decode() if changes else PROGRAM.format(move=move)
        again = fixpoint.apply([SourceFile("train.py", text.encode(), text)], settings_of_run).patch.files
        assert again == ()
        return "".join(text.splitlines(keepends=True)[6:-1]).rstrip()

    return call


CHOICE = ' if torch.cuda.is_available() else "cpu"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('device = config["device"]', f'device = config["device"]{CHOICE}'),
        ('model.to(config["device"])', f'model.to(config["device"]{CHOICE})'),
        ('model.to(config.get("device"))', f'model.to(config.get("device"){CHOICE})'),
        (
            'device = torch.device(config["train"]["device"])',
            f'device = torch.device(config["train"]["device"]{CHOICE})',
        ),
        ("model.to(self.cfg.device)", f"model.to(self.cfg.device{CHOICE})"),
    ],
)
def test_a_setting_is_read_with_a_choice(before, after, ported):
    assert ported(before) == after


def test_json_is_read_too(ported):
    assert (
        ported('model.to(config["device"])', '{"device": "cuda"}\n', "c.json") == f'model.to(config["device"]{CHOICE})'
    )


@pytest.mark.parametrize(
    ("move", "settings"),
    [
        pytest.param('model.to(config["device"])', "device: cpu\n", id="the-cpu"),
        pytest.param('model.to(config["device"])', "train_device: cuda\n", id="another-key"),
        pytest.param('print(config["device"])', "device: cuda\n", id="no-device"),
        pytest.param("model.to(x.device)", "device: cuda\n", id="of-a-tensor"),
        pytest.param('model.to(row["device"])', "device: cuda\n", id="of-something-else"),
        pytest.param('play(device=config["device"])', "device: cuda\n", id="of-another-library"),
        pytest.param('config["device"] = "cpu"\nmodel.to(config["device"])', "device: cuda\n", id="set-by-the-program"),
        pytest.param(f'model.to(config["device"]{CHOICE})', "device: cuda\n", id="with-a-choice"),
    ],
)
def test_other_values_stay(move, settings, ported):
    assert ported(move, settings) == move


def test_a_flag_of_a_settings_file_asks_for_cuda(ported):
    move = 'if config["use_gpu"]:\n    model.cuda()'

    assert ".cuda()" in ported(move, "use_gpu: false\n")
    assert ".cuda()" not in ported(move, "use_gpu: true\n")


def _ported(**files):
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)
    loaded, _ = load([f"{name}.py" for name in files])
    patch = fixpoint.apply(loaded, Settings(select=("DEV811",), root=".")).patch
    return {change.path.removesuffix(".py"): change.new.decode() for change in patch.files}


TRAIN = """\
import os

import torch
from config import DEVICE, cfg

{select}
device = cfg.model.device
print(torch.ones(2).to(DEVICE), torch.ones(2).to(device))
"""
CONFIG = """\
from tree import Node

DEVICE = "cuda"
cfg = Node()
cfg.model = Node()
cfg.model.device = "cuda:0"
options = {"device": "cuda"}
"""


def test_a_module_of_settings_asks_what_is_available(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    after = _ported(train=TRAIN.format(select=""), config=CONFIG)

    assert after == {
        "config": CONFIG.replace("from tree", "import torch\nfrom tree")
        .replace('"cuda"', f'"cuda"{CHOICE}')
        .replace('"cuda:0"', f'"cuda:0"{CHOICE}')
    }


def test_settings_are_read_with_a_choice_if_the_program_selects_its_devices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train = TRAIN.format(select='os.environ["CUDA_VISIBLE_DEVICES"] = "1"')

    after = _ported(train=train, config=CONFIG)

    assert after == {"train": train.replace("= cfg.model.device", f"= cfg.model.device{CHOICE}")}


def test_a_flag_that_is_text_is_one(tmp_path, monkeypatch):
    """``strtobool`` reads what an INI file says, and asks no machine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.cfg").write_text("[exp]\nuse_cuda = True\n")
    flag = 'use_cuda = strtobool(config["exp"]["use_cuda"])\n'
    text = f"import torch\n\n{flag}if use_cuda:\n    print(torch.ones(2).cuda())\n"

    assert ".cuda()" not in _ported(train=text)["train"]


LAYERS = """\
import torch


class Loss(torch.nn.Module):
    def __init__(self, device=torch.device("cuda")):
        super().__init__()
        self.centers = torch.nn.Parameter(torch.randn(3).cuda())
        self.device = device


if __name__ == "__main__":
    print(Loss())
"""


@pytest.mark.parametrize(
    "first",
    ['import os\n\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\n', "from multiprocessing import Process\n\nProcess\n"],
)
def test_an_imported_module_asks_nothing_when_it_is_imported_if_another_one_must_come_first(
    first, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    train = f"import torch\nfrom layers import Loss\n{first}print(Loss())\n"

    late = _ported(train=train, layers=LAYERS)["layers"]
    soon = _ported(train=train.replace(first, ""), layers=LAYERS)["layers"]

    assert 'device=torch.device("cuda")):' in late
    assert late.index("is_available") > late.index("super()") > soon.index("is_available")


DEFAULTS = 'from tree import Node\n\nconfig = Node()\nconfig.device = "cuda"\n'
UPDATE = 'import torch\n\n\ndef update(config):\n    if not torch.cuda.is_available():\n        config.device = "cpu"\n'
RUN = "import torch\nfrom defaults import config\nfrom update import update\n\nupdate(config)\n"
RUN += "print(torch.ones(2).to(config.device))\n"


def test_a_setting_that_another_file_replaces_without_cuda_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text("device: cuda\n")

    assert _ported(run=RUN, defaults=DEFAULTS, update=UPDATE) == {}
    other = UPDATE.replace("config.device", "config.other")
    assert set(_ported(run=RUN, defaults=DEFAULTS, update=other)) == {"run", "defaults"}


OPTIONS = """\
import os


def choose(args):
    os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu


def fill(args):
{first}    args.device = "cuda"
    return args
"""
SELECTS = "import os\nimport torch\nfrom options import choose, fill\n\nargs = fill(parse())\nchoose(args)\n"
SELECTS += 'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nprint(torch.ones(2).to(args.device))\n'


def test_the_order_of_the_lines_says_nothing_of_another_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = '    os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu\n'

    assert "options" not in _ported(run=SELECTS, options=OPTIONS.format(first=""))
    assert "is_available" in _ported(run=SELECTS, options=OPTIONS.format(first=before))["options"]
