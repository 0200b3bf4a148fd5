"""DEV301 by example: which device a checkpoint is loaded to, in all forms of the call."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import decode

from .listings import listings, projects

CODE = "DEV301"


@pytest.mark.parametrize("listing", listings("load_without_map_location", "repaired"))
def test_a_checkpoint_is_loaded_to_where_it_is_used(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", listings("load_without_map_location", "untouched"))
def test_a_load_that_says_where_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize("files", projects("load_without_map_location"))
def test_only_the_file_with_the_call_changes(files, files_before_and_after, repair):
    before, after = files_before_and_after(files)

    assert repair(CODE, before) == after


def test_a_whole_model_stays_where_it_was_saved_if_there_is_cuda(repair):
    text = (
        "import torch\n\nmodel = torch.load('whole.pt'{})\nmodel.eval()\n"
        "print(model.sample(torch.ones(2, 3, device='cuda' if torch.cuda.is_available() else 'cpu')))\n"
    )

    after = text.format(", map_location=None if torch.cuda.is_available() else 'cpu'")
    assert repair(CODE, text.format("")) == after
    assert repair(CODE, after) == after


LOSSES = """
import torch
from torch import nn


class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.LogSoftmax(dim=1)
        FACTOR

    def forward(self, x, y):
        return -(self.scores(x) * y).mean()


def main():
    loss = Smooth().cuda()
    x = torch.ones(2, 3).cuda()
    y = torch.load("labels.pt")["y"]
    print(loss(x, y))


main()
"""


@pytest.mark.parametrize(
    ("factor", "call"),
    [
        ("pass", 'torch.load("labels.pt")'),
        (
            "self.factor = nn.Parameter(torch.ones(1))",
            'torch.load("labels.pt", map_location=next(loss.parameters()).device)',
        ),
    ],
    ids=["none", "one"],
)
def test_a_device_is_taken_from_parameters_that_exist(repair, factor, call):
    repaired = repair(CODE, LOSSES.replace("FACTOR", factor))

    assert call in repaired
    assert ("parameters()" in repaired) is ("Parameter" in factor)


INDEX = """
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=None)
args = parser.parse_args()
model = nn.Linear(3, 3)
GUARD
    model.cuda(args.gpu)
else:
    model = nn.DataParallel(model).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
state = torch.load("model.pt")
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
best = state["best"]
GUARD
    best = best.to(args.gpu)
print(model(torch.ones(3).cuda(args.gpu)), best)
"""


@pytest.mark.parametrize(
    ("guard", "target"),
    [
        ("if args.gpu is not None:", '"cpu"'),
        ('if args.gpu != "cpu":', '"cpu"'),
        ("if True:", 'f"cuda:{args.gpu}"'),
    ],
    ids=["maybe-none", "maybe-cpu", "number"],
)
def test_an_index_that_may_be_none_names_no_device(repair, guard, target):
    assert f'torch.load("model.pt", map_location={target})' in repair(CODE, INDEX.replace("GUARD", guard))


@pytest.mark.parametrize("index", ["default=0", "default=-1", "default=0, choices=[0, 1, 'cpu']"])
def test_a_model_is_not_loaded_to_an_index_that_may_be_none_of_an_accelerator(repair, index):
    program = INDEX.replace("default=None", index).replace("GUARD", "if True:")
    program = (
        program[: program.index("state = ")]
        + "model = torch.load('model.pt')\nprint(model(torch.ones(3).cuda(args.gpu)))\n"
    )

    assert ('map_location=f"cuda:' in repair(CODE, program)) is (index == "default=0")


def test_a_test_for_the_first_process_says_nothing_about_an_index(repair):
    program = INDEX.replace("default=None", "default=0").replace("GUARD", "if args.gpu == 0:")

    assert 'map_location=f"cuda:{args.gpu}"' in repair(CODE, program)


FINETUNE = """
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=1)
parser.add_argument("--slurm", type=int, default=0)
args = parser.parse_args()
if args.slurm == 0:
    torch.cuda.set_device(args.gpu)
model = torch.load("model.pt")["model"]
model.cuda()
print(model(torch.ones(3).cuda(args.gpu)))
"""


def test_a_whole_model_that_moves_next_is_loaded_to_the_cpu(repair):
    assert 'torch.load("model.pt", map_location="cpu")' in repair(CODE, FINETUNE)


LEFT_OVER = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 3), nn.Flatten()).cuda()
for part in model.modules():
    print(part)
values = torch.load("model.pt")
model.load_state_dict(values["model"])
print(model(values["input"].view(1, 3)))
"""


def test_what_a_loop_leaves_in_its_name_gives_no_device(repair):
    after = repair(CODE, LEFT_OVER)

    assert "map_location=next(model.parameters()).device" in after


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Repairs ``test.py`` in a project with further files, and returns its text."""
    monkeypatch.chdir(tmp_path)

    def call(text, **others):
        for name, content in others.items():
            Path(name.replace("_", ".")).write_text(content, encoding="utf-8")
        file = decode("test.py", text.encode())
        outcome = fixpoint.apply([file], Settings(root=".", select=(CODE,)))
        return next((change.new.decode() for change in outcome.patch.files), text)

    return call


PLAIN = (
    "import torch\nfrom torch import nn\n\nmodel = nn.Linear(2, 2)\nMOVE\nmodel.load_state_dict(torch.load('m.pt'))\n"
)
TRAIN = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(2, 2).cuda()\ntorch.save(STATE, 'm.pt')\n"


@pytest.mark.parametrize(
    ("move", "release", "target"),
    [
        ("model.cpu()", "0.3.1", "lambda storage, location: storage"),
        ("model.cuda()", "0.2", "lambda storage, location: storage"),
        ("model.cuda()", "0.4.0", '"cpu"'),
        ("model.cuda()", "1.0", '"cpu"'),
    ],
)
def test_before_0_4_a_function_maps_the_storages(project, move, release, target):
    text = PLAIN.replace("MOVE", move)

    assert f"map_location={target})" in project(text, README_md=f"Tested with PyTorch {release}\n").replace("'", '"')


def test_a_whole_model_stays_where_it_was_saved_in_0_4_too(project):
    text = "import torch\n\nmodel = torch.load('whole.pt')\nmodel.eval()\nprint(model.sample(torch.ones(2, 3)))\n"

    after = project(text, README_md="Tested with PyTorch 0.4.0\n")
    assert "map_location=None if torch.cuda.is_available() else 'cpu')" in after


def test_a_project_that_saves_its_weights_from_the_cpu_loads_them_there(project):
    text = PLAIN.replace("MOVE", "model.cuda()")

    assert project(text, train_py=TRAIN.replace("STATE", "model.cpu().state_dict()")) == text
    assert project(text, train_py=TRAIN.replace("STATE", "model.state_dict()")) != text


@pytest.mark.parametrize(
    ("option", "default", "is_device"),
    [
        ("dev", "", False),
        ("dev", "data/dev.txt", False),
        ("dev", "cuda", True),
        ("device", "", True),
        ("device", "cuda:1", True),
        ("device", "1", False),
        ("devices", "0,1,2,3", False),
    ],
)
def test_the_default_of_an_option_tells_a_device_from_other_texts(repair, option, default, is_device):
    program = f"""\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--{option}", type=str, default={default!r})
args = parser.parse_args()
model = torch.load("model.pt")
model.eval()
"""
    assert (f"map_location=args.{option}" in repair(CODE, program)) is is_device


def test_what_a_trainer_calls_the_accelerator_is_no_device(repair):
    program = """
import sys

import torch
from lightning import Trainer
from torch import nn

device = sys.argv[1]
accelerator = "gpu" if device == "cuda:0" else "cpu"
trainer = Trainer(accelerator=accelerator)
state = torch.load("model.pt")
torch.save({**state, "state_dict": {}}, "reduced.pt")
model = nn.Linear(3, 3).to("cuda")
model.load_state_dict(torch.load("weights.pt"))
"""

    assert "map_location=accelerator" not in repair(CODE, program)


@pytest.mark.parametrize(
    ("device", "target"),
    [
        ("torch.cuda.current_device()", "torch.device(device)"),
        ('torch.device("cuda")', "device"),
    ],
)
def test_the_number_of_an_accelerator_is_made_a_device(repair, device, target):
    """``torch.load`` calls what is neither a string nor a device."""
    program = f"""\
import torch
from torch import nn

device = {device}
model = nn.Linear(4, 2).to(device)
state = torch.load("m.pt")
print(model(state["x"]))
"""
    assert f"map_location={target})" in repair(CODE, program)


@pytest.mark.parametrize(
    ("imported", "target"), [("import torch_xla.core.xla_model as xm", '"cpu"'), ("import xm", "device")]
)
def test_nothing_is_restored_to_a_tpu(repair, imported, target):
    text = (
        f"import torch\n{imported}\n\ndevice = torch.device('cuda') if torch.cuda.is_available() else xm.xla_device()\n"
        'net = torch.nn.Linear(3, 3).to(device)\nnet.load_state_dict(torch.load("weights.pt"{}))\n'
    )

    assert repair(CODE, text.format("")) == text.format(f", map_location={target}")


@pytest.mark.parametrize(
    ("taken", "target"),
    [
        ('optimizer = checkpoint["optimizer"]', 'None if torch.cuda.is_available() else "cpu"'),
        ('optimizer = SGD(net.parameters())\n    optimizer.load_state_dict(checkpoint["optimizer"])', '"cpu"'),
    ],
)
def test_an_optimizer_in_a_checkpoint_is_not_moved_with_its_module(repair, taken, target):
    text = (
        "import torch\nfrom torch.optim import SGD\n\n\ndef load(checkpoint_path):\n"
        '    checkpoint = torch.load(checkpoint_path{})\n    net = checkpoint["net"].eval()\n    TAKEN\n'
        '    return net, optimizer\n\n\nnet, optimizer = load("best.pth")\nnet = net.cuda()\n'
        "net(torch.ones(2, 3).cuda()).sum().backward()\noptimizer.step()\n"
    ).replace("TAKEN", taken)

    assert repair(CODE, text.format("")) == text.format(f", map_location={target}")


@pytest.mark.parametrize("base", ["", "(nn.Module)"])
def test_what_an_object_keeps_of_a_checkpoint_stays_where_it_was_saved(repair, base):
    """The best loss of a schedule is compared with the next one, on the device where it is computed."""
    text = (
        f"import torch\nfrom torch import nn\n\n\nclass Plateau{base}:\n    best = 0\n\n    def step(self, loss):\n"
        "        self.best = loss if loss < self.best else self.best\n\n    def load_state_dict(self, state):\n"
        "        self.__dict__.update(state)\n\n\nnet, plateau = nn.Linear(3, 3), Plateau()\n"
        'saved = torch.load("last.pth"{})\nnet.load_state_dict(saved["net"])\nTAKEN\n'
    )
    kept = text.replace("TAKEN", 'plateau.load_state_dict(saved["plateau"])')
    number = text.replace("TAKEN", 'plateau.best = saved["best"]')

    assert repair(CODE, kept.format("")) == kept.format(', map_location=None if torch.cuda.is_available() else "cpu"')
    assert repair(CODE, number.format("")) == number.format(', map_location="cpu"')


def test_a_list_of_devices_is_no_device(repair):
    text = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--devices", type=torch.device, nargs="+", default=[torch.device("cuda")])
args = parser.parse_args()
net = nn.Linear(3, 3).to(args.devices[0])
net.load_state_dict(torch.load("best.pt"))
"""

    assert repair(CODE, text) == text.replace('"best.pt"', '"best.pt", map_location=args.devices[0]')


@pytest.mark.parametrize(
    ("call", "edited"),
    [
        pytest.param("torch.load(path, **options)", "torch.load(path, **options)", id="passed-on"),
        pytest.param("torch.load(path, **OPTIONS)", 'torch.load(path, map_location="cpu", **OPTIONS)', id="others"),
    ],
)
def test_a_caller_may_say_where_by_the_arguments_that_are_passed_on(repair, call, edited):
    program = f"""\
import torch

OPTIONS = {{"weights_only": True}}


def load(model, path, **options):
    model.load_state_dict({call})


model = torch.nn.Linear(4, 2)
load(model, "m.pt")
model.cuda()
"""
    assert edited in repair(CODE, program)
