"""DEV811 under flags of other files: those that are on by default ask for CUDA on every machine."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import decode

TRAINER = """
import torch


class Trainer:
    def __init__(self, model, {parameter}):
        self.model = model
        self.use_gpu = {value}

    def set_use_gpu(self, use_gpu):
        self.use_gpu = use_gpu

    def run(self, x):
        if self.use_gpu:
            self.model.cuda()
        return self.model(x.cuda() if self.use_gpu else x)
"""
CALL = """
import torch
from trainer import Trainer
{options}
model = torch.nn.Linear(4, 2)
{call}.run(torch.ones(3, 4))
"""
OPTIONS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--gpu_mode", type=bool, default={default})
args = parser.parse_args()
"""


@pytest.fixture
def moved(tmp_path, monkeypatch):
    """The number of calls of ``cuda`` that are ported."""
    monkeypatch.chdir(tmp_path)

    def call(parameter="use_gpu=True", value="use_gpu", call="Trainer(model)", options=""):
        trainer = TRAINER.replace("{parameter}", parameter).replace("{value}", value)
        texts = {"trainer.py": trainer, "train.py": CALL.replace("{call}", call).replace("{options}", options)}
        files = [decode(name, text.encode()) for name, text in texts.items()]
        settings = Settings(root=".", select=("DEV811",), targets=PortTargets(("cpu", "cuda")))
        changed = {each.path: each.new.decode() for each in fixpoint.apply(files, settings).patch.files}
        return 2 - changed.get("trainer.py", trainer).count(".cuda()")

    return call


@pytest.mark.parametrize("parameter", ["use_gpu=True", "use_gpu=1", "*, use_gpu: bool = True"])
def test_what_a_flag_does_by_default_is_ported(moved, parameter):
    assert moved(parameter) == 2


@pytest.mark.parametrize(
    "call", ["Trainer(model, use_gpu=True)", "Trainer(model, True)", "Trainer(model, use_gpu=False)"]
)
def test_a_constant_that_is_passed_does_not_follow_the_machine(moved, call):
    assert moved(call=call) == 2


def test_a_constant_that_calls_pass_counts_more_than_a_default_that_is_off(moved):
    assert moved("use_gpu=False", call="Trainer(model, use_gpu=True)") == 2


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("use_gpu=False", "use_gpu"),
        ("use_gpu", "use_gpu"),
        ("use_gpu=None", "use_gpu"),
        ("gpus=-1", "gpus"),
        ("use_gpu=True", "use_gpu and torch.cuda.is_available()"),
    ],
)
def test_other_flags_are_conditions_on_cuda(moved, parameter, value):
    assert moved(parameter, value) == 0


@pytest.mark.parametrize(
    ("value", "call"),
    [
        ("config['gpu']", "config = {'gpu': True}\nTrainer(model, config)"),
        ("not config['no_cuda']", "config = dict(no_cuda=False)\nTrainer(model, config)"),
        ("config['train']['gpu_ids']", "Trainer(model, {'train': {'gpu_ids': [0]}})"),
        ("config.use_gpu", "import types\nTrainer(model, types.SimpleNamespace(use_gpu=1))"),
        (
            "config.gpus[0] >= 0",
            "import types\nconfig = types.SimpleNamespace()\nconfig.gpus = [0]\nTrainer(model, config)",
        ),
    ],
)
def test_a_setting_that_the_program_turns_on_is_no_condition_on_cuda(moved, value, call):
    assert moved("config", value, call) == 2


@pytest.mark.parametrize(
    "call",
    [
        "config = {'gpu': torch.cuda.is_available()}\nTrainer(model, config)",
        "gpus = torch.cuda.device_count()\nTrainer(model, dict(gpu=gpus > 0))",
        "def ask():\n    return torch.cuda.is_available()\nTrainer(model, {'gpu': ask()})",
        "config = {'gpu': True}\nif not torch.cuda.is_available():\n    config['gpu'] = False\nTrainer(model, config)",
        "import tools\nTrainer(model, {'gpu': tools.choose_gpu()})",
        "config = {'gpu': False}\nTrainer(model, config)",
        "config = {'gpu': None}\nTrainer(model, config)",
        "from settings import config\nTrainer(model, config)",
        "try:\n    torch.cuda.init()\n    gpu = True\nexcept OSError:\n    gpu = False\nTrainer(model, {'gpu': gpu})",
    ],
)
def test_a_setting_that_a_machine_answers_is_one(moved, call):
    assert moved("config", "config['gpu']", call) == 0


@pytest.mark.parametrize(
    "call",
    [
        "Trainer(model, use_gpu=torch.cuda.is_available())",
        "Trainer(model, torch.cuda.is_available())",
        "use_cuda = torch.cuda.is_available()\nTrainer(model, use_cuda)",
        "trainer = Trainer(model)\ntrainer.set_use_gpu(torch.cuda.is_available())\ntrainer",
    ],
)
def test_a_flag_that_a_caller_passes_from_a_query_follows_the_machine(moved, call):
    assert moved(call=call) == 0


@pytest.mark.parametrize(("default", "count"), [("True", 2), ("False", 0), ("torch.cuda.is_available()", 0)])
def test_an_option_of_another_file_counts(moved, default, count):
    options = OPTIONS.replace("{default}", default)

    assert moved("args", "args.gpu_mode", "Trainer(model, args)", options) == count


@pytest.mark.parametrize(("default", "count"), [("True", 2), ("False", 0)])
def test_an_option_that_is_passed_on_counts_more_than_the_default_of_the_parameter(moved, default, count):
    options = OPTIONS.replace("{default}", default)

    assert moved("use_gpu=False", "use_gpu", "Trainer(model, use_gpu=args.gpu_mode)", options) == count


def test_an_option_that_one_of_two_programs_turns_on_is_on(moved):
    options = OPTIONS.replace("{default}", "False") + OPTIONS.replace("{default}", "True")

    assert moved("args", "args.gpu_mode", "Trainer(model, args)", options) == 2


def test_an_option_that_is_assigned_again_is_not_known(moved):
    options = OPTIONS.replace("{default}", "True") + "args.gpu_mode = args.gpu_mode and torch.cuda.is_available()\n"

    assert moved("args", "args.gpu_mode", "Trainer(model, args)", options) == 0


def test_the_name_of_torch_may_come_with_all_names_of_a_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"common.py": "import torch\n", "train.py": "from common import *\n\nprint(torch.ones(3).cuda())\n"}
    files = [decode(name, text.encode()) for name, text in texts.items()]
    settings = Settings(root=".", select=("DEV811",), targets=PortTargets(("cpu", "cuda")))

    (change,) = fixpoint.apply(files, settings).patch.files
    assert "torch.ones(3).to(device)" in change.new.decode()


def test_warnings_of_python_about_a_file_are_not_raised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = 'import torch\npattern = "\\d"\nprint(torch.ones(3).cuda(), pattern)\n'
    settings = Settings(root=".", select=("DEV811",), targets=PortTargets(("cpu", "cuda")))

    (change,) = fixpoint.apply([decode("train.py", text.encode())], settings).patch.files
    assert ".to(device)" in change.new.decode()
