"""DEV801 by example: which accelerator is a process's own."""

from __future__ import annotations

import pytest

CODE = "DEV801"
PROCESS = """
  import os
  import torch.distributed as dist
  from torch.nn.parallel import DistributedDataParallel as DDP
  dist.init_process_group("nccl")
"""
RANK = '  local_rank = int(os.environ["LOCAL_RANK"])\n'

REWRITES = [
    pytest.param(
        PROCESS + RANK + "+ torch.cuda.set_device(local_rank)\n  model = DDP(nn.Linear(4, 2).cuda())\n",
        id="group-alone",
    ),
    pytest.param(
        PROCESS
        + "  def main(rank, size):\n"
        + "      model = nn.Linear(4, 2)\n+     torch.cuda.set_device(rank)\n      model.cuda()\n"
        + "      model = DDP(model, [rank])\n"
        + "  torch.multiprocessing.spawn(main, args=(2,), nprocs=2)\n",
        id="spawned",
    ),
    pytest.param(
        PROCESS
        + RANK
        + "  model = DDP(nn.Linear(4, 2).cuda(local_rank))\n"
        + "- model(torch.ones(3, 4).cuda(0))\n+ model(torch.ones(3, 4).cuda(local_rank))\n",
        id="index",
    ),
    pytest.param(
        PROCESS
        + RANK
        + "  torch.cuda.set_device(local_rank)\n"
        + '- device = torch.device("cuda:0")\n+ device = torch.device(f"cuda:{local_rank}")\n'
        + "  model = DDP(nn.Linear(4, 2).cuda())\n  model(torch.ones(3, 4).to(device))\n",
        id="beside-the-current-one",
    ),
]

SILENT = [
    pytest.param(PROCESS + RANK + "  torch.cuda.set_device(local_rank)\n  DDP(nn.Linear(4, 2).cuda())\n", id="current"),
    pytest.param(PROCESS + "  DDP(nn.Linear(4, 2).cuda())\n", id="nothing-says-that-there-are-several"),
    pytest.param(PROCESS + RANK + "  DDP(nn.Linear(4, 2).cuda(local_rank), [local_rank])\n", id="named"),
    pytest.param(
        PROCESS + RANK + "  with torch.cuda.device(local_rank):\n      DDP(nn.Linear(4, 2).cuda())\n", id="context"
    ),
    pytest.param(
        PROCESS + RANK + '  if dist.get_rank() == 0:\n      DDP(nn.Linear(4, 2).to("cuda:0"))\n', id="first-process"
    ),
    pytest.param(
        PROCESS.replace("nccl", "gloo") + RANK + "  DDP(nn.Linear(4, 2).cuda())\n", id="a-group-that-does-not-mind"
    ),
    pytest.param('  model = nn.Linear(4, 2).to("cuda:1")\n  model(torch.ones(3, 4).to("cuda:1"))\n', id="one-device"),
    pytest.param("  model = nn.DataParallel(nn.Linear(4, 2)).cuda(1)\n  model(torch.ones(3, 4))\n", id="data-parallel"),
]


@pytest.mark.parametrize("body", REWRITES)
def test_the_edit_is_the_one_that_an_author_would_make(before_and_after, repair, body):
    before, after = before_and_after(body)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("body", SILENT)
@pytest.mark.parametrize("code", ["DEV502", "DEV801"])
def test_what_is_right_stays_to_the_other_rule_for_accelerators_too(unchanged, repair, code, body):
    text = unchanged(body)

    assert repair(code, text) == text


def test_a_wrapper_without_ids_leaves_its_inputs(before_and_after, repair):
    before, after = before_and_after(
        PROCESS
        + "  model = DDP(nn.Linear(4, 2).cuda())\n"
        + "  for (x,) in DataLoader(TensorDataset(torch.randn(8, 4))):\n"
        + "+     x = x.cuda()\n"
        + "      model(x)\n"
    )

    assert repair("DEV101", before) == after
