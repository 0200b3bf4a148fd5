"""Distributed programs that use accelerator 0 in every process."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, edited, observe, sides

from devfix.fixes.devices.local_rank import fixed_index_uses, index_edits, local_rank_at, set_device_edit

SETUP = f"""{IMPORTS}import os
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(local_rank)
"""


def uses_in(text):
    observations = observe(text)
    return observations, list(fixed_index_uses(observations))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('net = nn.Linear(4, 2).to("cuda:0")', 'net = nn.Linear(4, 2).to(f"cuda:{local_rank}")'),
        ("net = nn.Linear(4, 2).cuda(0)", "net = nn.Linear(4, 2).cuda(local_rank)"),
        ("net = nn.Linear(4, 2).to(torch.device(0))", "net = nn.Linear(4, 2).to(torch.device(local_rank))"),
    ],
)
def test_the_index_becomes_the_local_rank(old, new):
    before, after = sides(f"- {old}\n+ {new}\n  net(torch.ones(3, 4).cuda())\n", SETUP)
    _, (use,) = uses_in(before)

    assert edited(before, index_edits(use, "local_rank")) == after


def test_the_output_device_follows_the_device_ids():
    before, after = sides(
        "  net = nn.Linear(4, 2).cuda()\n- DDP(net, device_ids=[0], output_device=0)\n"
        "+ DDP(net, device_ids=[local_rank], output_device=local_rank)\n",
        SETUP,
    )
    _, (use,) = uses_in(before)

    assert use.literal is use.node
    assert edited(before, index_edits(use, "local_rank")) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("net = nn.Linear(4, 2).cuda()\nnet(torch.ones(3, 4).cuda())", id="current"),
        pytest.param("net = nn.Linear(4, 2).to(local_rank)\nnet(torch.ones(3, 4).cuda())", id="rank"),
        pytest.param("torch.ones(3).to('cuda:0')", id="without-a-mismatch"),
    ],
)
def test_other_devices_are_no_fixed_index(body):
    assert uses_in(f"{SETUP}{body}\n")[1] == []


def test_a_program_in_one_process_has_no_fixed_index():
    text = f"{IMPORTS}net = nn.Linear(4, 2).to('cuda:0')\nnet(torch.ones(3, 4).to('cuda:1'))\n"

    assert uses_in(text)[1] == []


WITHOUT = SETUP.replace("torch.cuda.set_device(local_rank)\n", "")


def test_the_accelerator_of_the_process_is_set_before_the_first_use():
    before, after = sides(
        "+ torch.cuda.set_device(local_rank)\n  net = nn.Linear(4, 2).cuda()\n  DDP(net, device_ids=[local_rank])\n",
        WITHOUT,
    )
    observations, (use,) = uses_in(before)

    assert use.literal is None
    assert edited(before, [set_device_edit(observations, use)]) == after


@pytest.mark.parametrize(
    ("body", "rank"),
    [
        pytest.param("rank = int(os.environ['LOCAL_RANK'])\n{}", "rank", id="environment"),
        pytest.param("local_rank = int(input())\n{}", "local_rank", id="by-name"),
        pytest.param(
            "parser = argparse.ArgumentParser()\nparser.add_argument('--local_rank', type=int)\n"
            "args = parser.parse_args()\n{}",
            "args.local_rank",
            id="settings",
        ),
        pytest.param("rank = 3\n{}", None, id="number"),
        pytest.param("{}\nlocal_rank = int(input())", None, id="later"),
        pytest.param("local_rank = 'none'\n{}", None, id="text"),
    ],
)
def test_the_local_rank_has_a_name(body, rank):
    text = f"{IMPORTS}import argparse\nimport os\n{body.format('torch.ones(3).cuda() + torch.ones(3)')}\n"
    observations = observe(text)
    point = observations.mismatches[0].point

    assert local_rank_at(observations, point, point.call_frame) == rank


def test_without_a_rank_no_accelerator_is_set():
    text = WITHOUT.replace('local_rank = int(os.environ["LOCAL_RANK"])\n', "")
    observations, uses = uses_in(
        f"{text}net = nn.Linear(4, 2).cuda()\nDDP(net, device_ids=[int(os.environ['LOCAL_RANK'])])\n"
    )

    assert [set_device_edit(observations, use) for use in uses] == [None]
