"""Command lines that are declared as classes: options are open, methods and device names are known."""

from __future__ import annotations

import pytest

TAP = """
from tap import Tap
class Args(Tap):
    name: str = "net"
    cuda: bool = False
    device: str = "cpu"
    def prepare(self, module):
        return module.cuda()
args = Args(explicit_bool=True).parse_args(known_only=True)
"""
DATACLASS = """
from dataclasses import dataclass, field
import draccus, pyrallis, simple_parsing, tyro
from transformers import HfArgumentParser
@dataclass
class Model:
    device: str = "cpu"
@dataclass
class Args:
    width: int = 3
    cuda: bool = False
    offload: bool = field(default=True)
    device: str = "cpu"
    model: Model = field(default_factory=Model)
    def prepare(self, module):
        return module.cuda()
"""
PARSED = [
    TAP,
    DATACLASS + "args = tyro.cli(Args)\n",
    DATACLASS + "args = simple_parsing.parse(Args)\n",
    DATACLASS + "args = pyrallis.parse(config_class=Args)\n",
    DATACLASS + "args = draccus.parse(Args)\n",
    DATACLASS + "args, = HfArgumentParser(Args).parse_args_into_dataclasses()\n",
    DATACLASS + "_, args = HfArgumentParser((Model, Args)).parse_args_into_dataclasses()\n",
]


@pytest.mark.parametrize("program", PARSED)
def test_methods_of_the_class_are_followed(program, place):
    assert place(program, "args.prepare(nn.Linear(3, 3)).weight") == "accelerator"


@pytest.mark.parametrize("program", PARSED)
def test_a_device_is_what_a_user_chooses(program, place):
    assert place(program, "torch.ones(3, device=args.device)") == "accelerator"


@pytest.mark.parametrize("program", PARSED)
def test_both_sides_of_a_flag_are_followed(program, met):
    assert met(program + "x = torch.ones(3)\nif args.cuda:\n    x = x.cuda()\n    x + torch.ones(3)\n")


def test_groups_of_options_are_open(place):
    program = DATACLASS + "args = tyro.cli(Args)\n"

    assert place(program, "torch.ones(3, device=args.model.device)") == "accelerator"


def test_settings_of_settings_are_open(met):
    program = """
        import mystery
        config = mystery.parse()
        x = torch.ones(3)
        y = x if config.train.host else x.cuda()
        y + x
        """

    assert met(program)
