"""DEV502 and DEV801 by example: programs that use more than one accelerator."""

from __future__ import annotations

import pytest

PROCESS = """
  import os
  import torch.distributed as dist
  from torch.nn.parallel import DistributedDataParallel as DDP
  dist.init_process_group("nccl")
"""
RANK = '  local_rank = int(os.environ["LOCAL_RANK"])\n'
HALVES = """
  first, second = torch.device("cuda:0"), torch.device("cuda:1")
  front = nn.Linear(4, 8).to(first)
  back = nn.Linear(8, 2).to(second)
  x = torch.randn(3, 4)
"""

REWRITES = [
    pytest.param(
        "DEV801",
        PROCESS + RANK + "+ torch.cuda.set_device(local_rank)\n  model = DDP(nn.Linear(4, 2).cuda())\n",
        id="group-alone",
    ),
    pytest.param(
        "DEV801",
        PROCESS
        + "  def main(rank, size):\n"
        + "      model = nn.Linear(4, 2)\n+     torch.cuda.set_device(rank)\n      model.cuda()\n"
        + "      model = DDP(model, [rank])\n"
        + "  torch.multiprocessing.spawn(main, args=(2,), nprocs=2)\n",
        id="spawned",
    ),
    pytest.param(
        "DEV801",
        PROCESS
        + RANK
        + "  model = DDP(nn.Linear(4, 2).cuda(local_rank))\n"
        + "- model(torch.ones(3, 4).cuda(0))\n+ model(torch.ones(3, 4).cuda(local_rank))\n",
        id="index",
    ),
    pytest.param(
        "DEV801",
        PROCESS
        + RANK
        + "  torch.cuda.set_device(local_rank)\n"
        + '- device = torch.device("cuda:0")\n+ device = torch.device(f"cuda:{local_rank}")\n'
        + "  model = DDP(nn.Linear(4, 2).cuda())\n  model(torch.ones(3, 4).to(device))\n",
        id="beside-the-current-one",
    ),
    pytest.param(
        "DEV502", HALVES + "- back(front(x.to(first)))\n+ back(front(x.to(first)).to(second))\n", id="handed-over"
    ),
    pytest.param(
        "DEV502",
        HALVES + "  h = front(x.to(first))\n- out = h[:, :2] + back(h.to(second))\n"
        "+ out = h[:, :2] + back(h.to(second)).to(h.device)\n",
        id="sum",
    ),
    pytest.param(
        "DEV502",
        HALVES + "  h = front(x.to(first))\n- back(torch.relu(h))\n+ back(torch.relu(h).to(second))\n",
        id="expression",
    ),
]

REWRITES += [
    pytest.param(
        "DEV502",
        HALVES + "  for layer in (front, back):\n-     x = layer(x.to(first))\n"
        "+     x = layer(x.to(first).to(next(layer.parameters()).device))\n",
        id="in-a-loop",
    ),
    pytest.param(
        "DEV502",
        HALVES + "  h = front(x.to(first))\n- out = back(h)\n+ out = back(h.to(second))\n"
        "- (out - h[:, :2]).sum().backward()\n+ (out - h[:, :2].to(out.device)).sum().backward()\n",
        id="one-behind-the-other",
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
    pytest.param(HALVES + "  back(front(x.to(first)).to(second))\n", id="moved"),
    pytest.param(HALVES + "  print(back(x.to(second)).sum().item() + front(x.to(first)).sum().item())\n", id="numbers"),
    pytest.param(HALVES + "  h = torch.zeros(3, 8).to(first)\n  h[:] = front(x.to(first))\n", id="one-half"),
    pytest.param('  model = nn.Linear(4, 2).to("cuda:1")\n  model(torch.ones(3, 4).to("cuda:1"))\n', id="one-device"),
    pytest.param("  model = nn.DataParallel(nn.Linear(4, 2)).cuda(1)\n  model(torch.ones(3, 4))\n", id="data-parallel"),
]


@pytest.mark.parametrize(("code", "body"), REWRITES)
def test_the_edit_is_the_one_that_an_author_would_make(before_and_after, repair, code, body):
    before, after = before_and_after(body)

    assert repair(code, before) == after


@pytest.mark.parametrize("body", SILENT)
@pytest.mark.parametrize("code", ["DEV502", "DEV801"])
def test_what_is_right_stays(unchanged, repair, code, body):
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
