"""Moves of modules whose wrapper names the device."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, edited, observe, sides

from devfix.fixes.modules.module_roots import unmoved_roots
from devfix.fixes.modules.parallel_wrappers import declare_device, move_for_wrapper

CUDA = 'torch.device("cuda")'
DDP = "nn.parallel.DistributedDataParallel"


def wrapped(text):
    observations = observe(text)
    mismatch = observations.mismatches[0]
    return mismatch, unmoved_roots(observations, mismatch, mismatch.cpu[0])[0]


@pytest.mark.parametrize(
    ("ids", "trailer"),
    [("[rank]", ".to(rank)"), ("[rank, 1]", ".to(rank)"), ("[0]", ".to(0)"), ("[int(rank)]", ".to(int(rank))")],
)
def test_the_module_is_moved_to_the_first_device_of_the_wrapper(ids, trailer):
    mismatch, root = wrapped(
        f"{IMPORTS}import os\nrank = int(os.environ['LOCAL_RANK'])\nnet = nn.Linear(4, 2)\n"
        f"model = {DDP}(net, device_ids={ids})\n"
    )
    move = move_for_wrapper(mismatch, mismatch.point.call_stack[0], root)

    assert move.trailer == trailer
    assert move.names - {"int"} == ({"rank"} if "rank" in ids else set())


@pytest.mark.parametrize(
    "wrapper",
    [f"{DDP}(net, device_ids=devices)", f"{DDP}(net, device_ids=[*devices])", f"nn.DataParallel(net)({CUDA})", "net"],
    ids=["name", "starred", "no-device-ids", "no-wrapper"],
)
def test_without_a_literal_list_there_is_no_move(wrapper):
    mismatch, root = wrapped(
        f"{IMPORTS}devices = [0]\nx = torch.ones(3, 4, device={CUDA})\nnet = nn.Linear(4, 2)\n{wrapper}\nnet(x)\n"
    )

    assert move_for_wrapper(mismatch, mismatch.point.call_stack[0], root) is None


X = f"  model(torch.ones(3, 4, device={CUDA}))\n"


def test_a_device_is_declared_for_data_parallel():
    before, after = sides(
        '+ device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        f"- net = nn.Linear(4, 2)\n+ net = nn.Linear(4, 2).to(device)\n  model = nn.DataParallel(net)\n{X}",
        IMPORTS,
    )

    assert edited(before, declare_device(*wrapped(before)).edits) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"device = 3\nnet = nn.Linear(4, 2)\nmodel = nn.DataParallel(net)\n{X}", id="name-in-use"),
        pytest.param(f"net = nn.Linear(4, 2)\nmodel = nn.DataParallel(net)\n{X}device = 3\n", id="name-used-later"),
        pytest.param(f"model = nn.DataParallel(nn.Linear(4, 2))\n{X}", id="module-without-a-name"),
        pytest.param(f"net = model = nn.Linear(4, 2)\n{X}", id="no-wrapper"),
        pytest.param(f"net = nn.Linear(4, 2)\nmodel = {DDP}(net, device_ids=[0])\n{X}", id="distributed"),
    ],
)
def test_no_device_is_declared_for_other_programs(body):
    assert declare_device(*wrapped(f"{IMPORTS}{body}".replace("\n  model", "\nmodel"))) is None
