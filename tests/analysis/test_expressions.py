"""Where tensors live after factories, methods, arithmetic and comprehensions."""

from __future__ import annotations

import pytest

SETUP = """
import copy
import numpy as np
from torch import from_numpy
import torch.nn.functional as F
there = torch.ones(3, device="cuda")
here = torch.ones(3)
grid = torch.ones(3, 3, device="cuda")
class Holder:
    def __init__(self):
        self.value = torch.ones(3, device="cuda")
holder = Holder()
pair = (here, there)
table = {"here": here, "there": there}
"""

ACCELERATOR = [
    "torch.zeros(3, device='cuda')",
    "torch.tensor([1.0, 2.0, 3.0], device='cuda')",
    "torch.as_tensor([1.0, 2.0, 3.0], device='cuda')",
    "torch.randn(3, device='cuda').float()",
    "torch.zeros_like(there)",
    "torch.randn_like(there)",
    "there.new_zeros(3)",
    "there.new_tensor([1.0, 2.0, 3.0])",
    "there.clone().detach()",
    "there.view(3).contiguous()",
    "there.half()",
    "there[0:3]",
    "there.unsqueeze(0).squeeze(0)",
    "there + 1",
    "1.0 - there",
    "-there",
    "there ** 2 / 3",
    "there * there",
    "grid @ there",
    "grid.max(dim=1).values",
    "grid.max(dim=1)[0]",
    "grid.sort(dim=1)[0][0]",
    "grid.chunk(3)[0]",
    "F.relu(there)",
    "F.softmax(there, dim=0)",
    "torch.cat([there, there])",
    "torch.stack([there, there])[0]",
    "torch.where(there > 0, there, there)",
    "here.cuda()",
    "here.cuda(0, non_blocking=True)",
    "here.to('cuda', torch.float16)",
    "here.to(device='cuda', dtype=torch.float16)",
    "here.to('cuda', non_blocking=True, copy=True)",
    "torch.cuda.FloatTensor(3)",
    "holder.value",
    "getattr(holder, 'value')",
    "pair[1]",
    "pair[-1]",
    "table['there']",
    "table.get('there')",
    "[t.cuda() for t in pair][0]",
    "{k: v.cuda() for k, v in table.items()}['here']",
    "next(t.cuda() for t in pair)",
    "list(map(lambda t: t.cuda(), pair))[0]",
    "(lambda t: t.cuda())(here)",
    "here.cuda() if True else here",
    "(moved := here.cuda())",
    "copy.deepcopy(there)",
    "sum(t for t in [there, there])",
    "there.requires_grad_()",
    "there.data",
    "torch.autograd.Variable(there)",
    "nn.Parameter(there)",
    "there.type(torch.float64)",
    "there.expand(3, 3)[0]",
    "there.mean(dim=0, keepdim=True)",
    "torch.sigmoid(there).round()",
    "there.float().to(torch.int64)",
]
CPU = [
    "torch.zeros(3)",
    "torch.arange(3)",
    "torch.tensor([1, 2, 3])",
    "torch.from_numpy(np.zeros(3))",
    "from_numpy(np.zeros(3))",
    "torch.FloatTensor(3)",
    "there.cpu()",
    "there.to('cpu')",
    "there.detach().cpu().float()",
    "torch.zeros_like(there, device='cpu')",
    "torch.zeros_like(here)",
    "here + here",
    "pair[0]",
    "table['here']",
    "torch.eye(3)[0:1]",
    "here.numpy() if False else here",
    "torch.as_tensor(np.zeros(3))",
    "F.one_hot(torch.tensor(1), 3)",
    "torch.linspace(0, 1, 3).repeat(2, 1)[:1]",
]
EITHER = ["here if choose() else there", "table[choose()]", "choose() and here or there"]
UNKNOWN = [
    "something(there)",
    "unknown.tensor",
    "torch.zeros(3, device=where())",
    "(something() or there) * [[2, 3, 4]]",
]


@pytest.mark.parametrize("expression", ACCELERATOR)
def test_these_live_on_the_accelerator(place, expression):
    assert place(SETUP, expression) == "accelerator"


@pytest.mark.parametrize("expression", CPU)
def test_these_live_on_the_cpu(place, expression):
    assert place(SETUP, expression) == "cpu"


@pytest.mark.parametrize("expression", EITHER)
def test_these_live_here_on_one_path_and_there_on_the_other(place, expression):
    assert place(SETUP, expression) == "either"


@pytest.mark.parametrize("expression", UNKNOWN)
def test_of_these_nothing_is_known(place, expression):
    assert place(SETUP, expression) == "unknown"


def test_a_tensor_is_not_moved_when_the_result_is_dropped(place):
    assert place("x = torch.zeros(3)\nx.to('cuda')\nx.cuda()", "x") == "cpu"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("x, y = torch.zeros(3).cuda(), torch.zeros(3)", id="tuple"),
        pytest.param("[x, *y] = torch.zeros(3).cuda(), torch.zeros(3)", id="starred"),
        pytest.param("x = y = torch.zeros(3).cuda()", id="chain"),
        pytest.param("x: torch.Tensor = torch.zeros(3).cuda()", id="annotated"),
        pytest.param("(x, y), z = (torch.zeros(3).cuda(), 1), 2", id="nested"),
        pytest.param("x = torch.zeros(3).cuda()\nx += 1", id="augmented"),
        pytest.param("x = torch.zeros(3)\nx = x.cuda()", id="rebound"),
        pytest.param("held = {}\nheld['x'] = torch.zeros(3).cuda()\nx = held['x']", id="item"),
        pytest.param("held = [0]\nheld[0] = torch.zeros(3).cuda()\nx = held[0]", id="index"),
        pytest.param("for x in [torch.zeros(3).cuda()]:\n    pass", id="loop-target"),
        pytest.param("with torch.no_grad():\n    x = torch.zeros(3).cuda()", id="with"),
        pytest.param("if (x := torch.zeros(3).cuda()) is not None:\n    pass", id="walrus"),
    ],
)
def test_a_value_is_followed_through_every_kind_of_binding(place, program):
    assert place(program, "x") == "accelerator"


FOLLOWED = "import data\ny = torch.ones(3){item} * data.load()\ntorch.cat([y, torch.ones(3).cuda()])\n"


def test_a_cpu_scalar_follows_what_it_is_combined_with(met):
    assert met(FOLLOWED.format(item="[0]")) == []
    assert met(FOLLOWED.format(item="")) == ["torch.cat([y, torch.ones(3).cuda()])"]


def test_the_device_of_a_name_that_is_not_bound_is_no_choice_of_the_program(met):
    program = """
        def boxes(entry, has_masks):
            if has_masks:
                masks = torch.as_tensor(entry["masks"])
            if not has_masks:
                return torch.zeros(4, device=masks.device)

        for entry in entries():
            print(boxes(entry, unknown()) * torch.ones(4))
        """

    assert met(program) == []


@pytest.mark.parametrize(
    ("first", "number"),
    [("", 0), ("from settings import *\n", 1), ("exec(settings)\n", 1)],
)
def test_a_device_that_nothing_binds_may_be_any(met, first, number):
    text = f"{first}net = nn.Linear(3, 3)\nnet(torch.ones(3).to(device))\n"

    assert len(met(text)) == number


@pytest.mark.parametrize(("operator", "number"), [("/=", 0), ("= y /", 1)])
def test_an_unknown_value_that_is_written_in_place_stays_where_it_is(met, operator, number):
    text = f"y = boxes()\ny {operator} torch.ones(3)\ny[torch.ones(3).cuda() > 0]\n"

    assert len(met(text)) == number
