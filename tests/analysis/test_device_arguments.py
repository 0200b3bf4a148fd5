"""Devices in all spellings."""

from __future__ import annotations

import pytest

SETUP = """
import argparse
import os
from dataclasses import dataclass
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
parser.add_argument("--gpu", type=int, default=0)
parser.add_argument("--cpu-device")
args = parser.parse_args()
local_rank = int(os.environ["LOCAL_RANK"])
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 3).to(DEVICE)
here = torch.ones(3)
there = torch.ones(3, device=DEVICE)

@dataclass
class Config:
    device: str = "cuda:0"

config = Config()

def get_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
"""

ACCELERATOR = [
    pytest.param("'cuda'", id="text"),
    pytest.param("'cuda:1'", id="text-with-index"),
    pytest.param("'mps'", id="mps"),
    pytest.param("'xpu:0'", id="xpu"),
    pytest.param("0", id="index"),
    pytest.param("torch.device('cuda')", id="device"),
    pytest.param("torch.device('cuda', 0)", id="device-with-index"),
    pytest.param("torch.device(type='cuda', index=0)", id="device-by-keywords"),
    pytest.param("torch.device(f'cuda:{local_rank}')", id="f-string"),
    pytest.param("'cuda:' + str(local_rank)", id="concatenated"),
    pytest.param("'cuda:{}'.format(local_rank)", id="format"),
    pytest.param("'cuda:%d' % local_rank", id="percent"),
    pytest.param("DEVICE", id="if-available"),
    pytest.param("'cpu' if not torch.cuda.is_available() else 'cuda'", id="if-not-available"),
    pytest.param("torch.device(('cpu', 'cuda')[torch.cuda.is_available()])", id="by-index"),
    pytest.param("get_device()", id="function-with-a-chain"),
    pytest.param("args.device", id="argparse"),
    pytest.param("torch.device(args.device)", id="device-of-argparse"),
    pytest.param("args.gpu", id="argparse-index"),
    pytest.param("config.device", id="dataclass"),
    pytest.param("local_rank", id="local-rank"),
    pytest.param("there.device", id="device-of-a-tensor"),
    pytest.param("next(model.parameters()).device", id="device-of-parameters"),
    pytest.param("model.weight.device", id="device-of-a-weight"),
    pytest.param("str(DEVICE)", id="as-text"),
    pytest.param("torch.accelerator.current_accelerator()", id="accelerator-api"),
    pytest.param("torch.cuda.current_device()", id="current-device"),
]
CPU = [
    pytest.param("'cpu'", id="text"),
    pytest.param("torch.device('cpu')", id="device"),
    pytest.param("here.device", id="device-of-a-tensor"),
    pytest.param("here", id="like-a-tensor"),
    pytest.param("args.cpu_device", id="named-after-it"),
    pytest.param("'cuda' if not torch.cuda.is_available() else 'cpu'", id="the-wrong-way-round"),
]
STAYS = [
    pytest.param("torch.float16", id="dtype"),
    pytest.param("dtype=torch.float16", id="dtype-by-keyword"),
    pytest.param("memory_format=torch.channels_last", id="memory-format"),
    pytest.param("there.dtype", id="dtype-of-a-tensor"),
    pytest.param("device=None", id="none"),
]
UNKNOWN = [
    pytest.param("choose()", id="unknown-function"),
    pytest.param("settings['where']", id="unknown-container"),
    pytest.param("'meta'", id="no-device-that-counts"),
]


@pytest.mark.parametrize("device", ACCELERATOR)
def test_these_spell_the_accelerator(place, device):
    assert place(SETUP, f"torch.zeros(3).to({device})") == "accelerator"


@pytest.mark.parametrize("device", ACCELERATOR)
def test_a_factory_takes_the_same_spellings(place, device):
    assert place(SETUP, f"torch.zeros(3, device={device})") == "accelerator"


def test_a_tensor_goes_to_where_another_one_is(place):
    assert place(SETUP, "torch.zeros(3).to(there)") == "accelerator"
    assert place(SETUP, "torch.zeros(3).type_as(there)") == "accelerator"


@pytest.mark.parametrize("device", CPU)
def test_these_spell_the_cpu(place, device):
    assert place(SETUP, f"torch.zeros(3, device='cuda').to({device})") == "cpu"


@pytest.mark.parametrize("argument", STAYS)
def test_what_is_no_device_moves_nothing(place, argument):
    assert place(SETUP, f"torch.zeros(3).to({argument})") == "cpu"
    assert place(SETUP, f"torch.zeros(3, device='cuda').to({argument})") == "accelerator"


@pytest.mark.parametrize("device", UNKNOWN)
def test_what_is_not_established_is_unknown(place, device):
    assert place(SETUP, f"torch.zeros(3).to({device})") == "unknown"


def test_two_definitions_in_two_branches_of_availability_are_one_device(place):
    program = """
        if torch.cuda.is_available():
            device = torch.device("cuda")
        else:
            device = torch.device("cpu")
        """

    assert place(program, "torch.zeros(3, device=device)") == "accelerator"


def test_two_devices_on_two_unknown_branches_are_followed_apart(met):
    program = """
        if choose():
            device = torch.device("cuda")
        else:
            device = torch.device("cpu")
        model = nn.Linear(3, 3).to(device)
        x = torch.zeros(2, 3).to(device)
        print(model(x))
        """

    assert met(program) == []


def test_a_fault_on_one_of_two_devices_is_still_found(met):
    program = """
        if choose():
            device = torch.device("cuda")
        else:
            device = torch.device("cpu")
        model = nn.Linear(3, 3).to(device)
        print(model(torch.zeros(2, 3)))
        """

    assert met(program) == ["print(model(torch.zeros(2, 3)))"]


@pytest.mark.parametrize(("owner", "expected"), [("y0", 0), ("sample.y0", 0), ("cfg", 1), ("self.args.run", 1)])
def test_the_device_of_a_value_that_nothing_is_known_of_is_no_accelerator(met, owner, expected):
    name = owner.partition(".")[0]
    program = f"""
        import argparse
        from outside import Meta

        class Solver(metaclass=Meta):
            def __init__(self, {name if name != "self" else "args"}):
                {"self.args = args" if name == "self" else "pass"}
                self.table = torch.zeros(3, device={owner}.device)

        build = Solver
        print(build().table + torch.ones(3))
        """

    assert len(met(program)) == expected
