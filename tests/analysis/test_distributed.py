"""Process groups: what meets the accelerator there, and what a group that serves the CPU may be given."""

from __future__ import annotations

import pytest

START = """
import torch.distributed as dist

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dist.init_process_group("{backend}")
"""
COLLECTIVES = [
    pytest.param("dist.all_reduce(counts)", id="all-reduce"),
    pytest.param("dist.broadcast(tensor=counts, src=0)", id="by-keyword"),
    pytest.param("dist.all_gather([torch.zeros(3, device=device)], counts)", id="one-of-two"),
    pytest.param("if dist.is_initialized():\n    dist.all_reduce(counts)", id="behind-a-question"),
    pytest.param("work = dist.all_reduce(counts, async_op=True)", id="asynchronous"),
]
RIGHT = [
    pytest.param("nccl", "counts = counts.to(device)\ndist.all_reduce(counts)", id="moved"),
    pytest.param("gloo", "dist.all_reduce(counts)", id="gloo"),
    pytest.param("cpu:gloo,cuda:nccl", "dist.all_reduce(counts)", id="both"),
    pytest.param("nccl", "dist.all_reduce(counts, group=dist.new_group(backend='gloo'))", id="a-group-of-its-own"),
    pytest.param("nccl", "dist.all_gather_object([None], {'counts': counts})", id="objects"),
]


@pytest.mark.parametrize("statement", COLLECTIVES)
def test_nccl_reads_no_memory_of_the_cpu(met, statement):
    program = START.format(backend="nccl") + "counts = torch.ones(3)\n" + statement

    assert met(program) == [statement.splitlines()[-1].strip()]


@pytest.mark.parametrize(("backend", "statement"), RIGHT)
def test_other_groups_and_tensors_that_are_there_are_fine(met, backend, statement):
    assert met(START.format(backend=backend) + "counts = torch.ones(3)\n" + statement) == []


def test_before_there_is_a_group_the_question_is_answered_with_no(met):
    assert (
        met("import torch.distributed as dist\nif dist.is_initialized():\n    torch.ones(2) + torch.ones(2).cuda()")
        == []
    )


@pytest.mark.parametrize(
    ("wrapped", "meets"),
    [
        pytest.param("DDP(model, device_ids=[0])", True, id="device-ids"),
        pytest.param(
            "DDP(model, device_ids=[0] if torch.cuda.is_available() else None)", True, id="where-there-is-one"
        ),
        pytest.param("DDP(model)", True, id="nccl-alone"),
        pytest.param("DDP(model.to(device), device_ids=[0])", False, id="moved"),
    ],
)
def test_a_module_is_on_its_device_before_it_is_wrapped(met, wrapped, meets):
    program = START.format(backend="nccl") + (
        "from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = nn.Linear(2, 2)\n" + f"ddp = {wrapped}"
    )

    assert met(program) == ([f"ddp = {wrapped}"] if meets else [])


def test_under_gloo_a_module_may_stay_on_the_cpu(met):
    program = START.format(backend="gloo") + (
        "from torch.nn.parallel import DistributedDataParallel as DDP\nddp = DDP(nn.Linear(2, 2))"
    )

    assert met(program) == []
