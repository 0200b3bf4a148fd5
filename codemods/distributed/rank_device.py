"""## What it does
Checks for distributed programs in which every process uses accelerator 0 instead of the accelerator of its local rank:
`.cuda()` or `"cuda"` without `torch.cuda.set_device(local_rank)`, and `"cuda:0"` or `device_ids=[0]` next to
`cuda:{local_rank}`.

## Why is this bad?
`cuda` means the current accelerator, which is index 0 in every process by default. All processes allocate memory on the
first accelerator, NCCL rejects it (*Duplicate GPU detected*), and tensors on the default accelerator are combined with
tensors on an explicit index: *Expected all tensors to be on the same device, but found at least two devices, cuda:1 and
cuda:0*. Rank 0, and a run with a single process, shows no error.

## Example
```python
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
model = DistributedDataParallel(nn.Linear(4, 2).cuda(), device_ids=[local_rank])
```

## Use instead
```python
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
model = DistributedDataParallel(nn.Linear(4, 2).cuda(), device_ids=[local_rank])
```

## Fix safety
Safe: a run with a single process does not change. A program that mentions `CUDA_VISIBLE_DEVICES`, or a scheduler option
such as `gpus-per-task`, is not reported, because each of its processes may see a single accelerator.

## References
- [DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
- [torch.cuda.set_device](https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html)
- [pytorch/examples#1142](https://github.com/pytorch/examples/pull/1142)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.fixes.devices.local_rank import FixedIndexUse, fixed_index_uses, index_edits, local_rank_at, set_device_edit
from devfix.fixes.event_path import event_path
from devfix.model import Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_SINGLE_DEVICE_HINTS = ("CUDA_VISIBLE_DEVICES", "cuda.device(", "HIP_VISIBLE_DEVICES", "gpus-per-task", "gpus_per_task")


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding for a missing ``set_device``, and one per line that hard-codes index 0."""
    found = list(fixed_index_uses(observations))
    if any(
        hint in call_frame.tree.text
        for use in found
        for call_frame in use.point.call_stack
        for hint in _SINGLE_DEVICE_HINTS
    ):
        return
    current = [use for use in found if use.literal is None and not isinstance(use.node, ast.Constant)]
    if current and observations.multi_accelerator is not None and observations.multi_accelerator.set_current is None:
        first = min(current, key=lambda use: use.point.time)
        edit = set_device_edit(observations, first)
        certain = edit is not None or any(operand.text for operand in first.mismatch.cpu)
        if certain:
            yield _finding(
                first,
                "the current accelerator",
                "set the current accelerator to that of the local rank",
                (edit,) if edit else (),
            )
    for use in found:
        if use.literal is not None:
            rank = local_rank_at(observations, use.point, use.point.call_frame)
            edits = tuple(index_edits(use, rank)) if rank is not None else ()
            yield _finding(use, f"`{ast.unparse(use.literal)}`", f"use `{rank}`", edits)


def _finding(use: FixedIndexUse, described: str, title: str, edits: tuple[Edit, ...]) -> Finding:
    tree, node = use.point.tree, use.literal or use.node
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        tree.path,
        tree.span(node),
        f"every process uses {described}, which has index 0, instead of the accelerator of its local rank",
        event_path(
            (use.point, "moved", "moved to accelerator 0 in every process here"),
            (use.mismatch.point, "used", "used with tensors on the accelerator of the local rank here"),
        ),
        (Fix(title, edits),) if edits else (),
        "" if edits else "no expression for the local rank is available here",
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
"""
_OWN = "torch.cuda.set_device(local_rank)\n"
_TRAIN = "print(model(torch.ones(3, 4).cuda()))\n"
_BARE = "model = DDP(nn.Linear(4, 2).cuda(), device_ids=[local_rank])\n" + _TRAIN
_NAMED = 'device = torch.device(f"cuda:{local_rank}")\n'

RULE = Rule(
    code="DEV801",
    name="rank-device",
    summary="Every process of a distributed program uses accelerator 0 instead of that of its local rank.",
    documentation=__doc__,
    detect=detect,
    causes=("rank-without-own-device",),
    error_families=("same-device", "duplicate-gpu"),
    invalid=(
        Example("the current accelerator", _SETUP + _BARE, _SETUP + _OWN + _BARE),
        Example(
            "the device_ids of the wrapper",
            _SETUP + _NAMED + "model = DDP(nn.Linear(4, 2).to(device), device_ids=[0])\n",
            _SETUP + _NAMED + "model = DDP(nn.Linear(4, 2).to(device), device_ids=[local_rank])\n",
        ),
        Example(
            "an input on the first accelerator",
            _SETUP + _NAMED + 'model = DDP(nn.Linear(4, 2).to(device))\nprint(model(torch.ones(3, 4).to("cuda:0")))\n',
            _SETUP
            + _NAMED
            + "model = DDP(nn.Linear(4, 2).to(device))\n"
            + 'print(model(torch.ones(3, 4).to(f"cuda:{local_rank}")))\n',
        ),
    ),
    valid=(
        _SETUP + _OWN + _BARE,
        _SETUP + _NAMED + "model = DDP(nn.Linear(4, 2).to(device), device_ids=[local_rank])\n",
        _SETUP.replace("import os\n", 'import os\n\nos.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]\n')
        + "model = DDP(nn.Linear(4, 2).cuda())\n",
    ),
)
