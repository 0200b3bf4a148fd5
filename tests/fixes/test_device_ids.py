"""``device_ids`` that name another accelerator than the module's."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, edited, observe

from devfix.fixes.devices.device_ids import ParallelWrap, conflicting_device_ids, first_index


def wraps_in(wrapper, move="net.cuda()", setup=DEVICE):
    text = f"{setup}net = nn.Linear(4, 2)\n{move}\nmodel = {wrapper}\nmodel(torch.ones(3, 4))\n"
    observations = observe(text)
    return text, observations, list(conflicting_device_ids(observations))


@pytest.mark.parametrize("move", ["net.cuda()", 'net.to("cuda:0")', "net.to(device)"])
def test_the_index_of_another_accelerator_is_replaced(move):
    text, _, ((_, edit),) = wraps_in("nn.DataParallel(net, device_ids=[1])", move)

    assert edited(text, [edit]) == text.replace("[1]", "[0]")


@pytest.mark.parametrize(
    "wrapper",
    ["nn.DataParallel(net, device_ids=[1, 2])", "nn.parallel.DistributedDataParallel(net, device_ids=[1])"],
    ids=["several", "distributed"],
)
def test_several_accelerators_and_processes_are_reported_without_an_edit(wrapper):
    _, _, ((wrapped, edit),) = wraps_in(wrapper)

    assert (first_index(wrapped), edit) == (1, None)


@pytest.mark.parametrize(
    ("wrapper", "move"),
    [
        pytest.param("nn.DataParallel(net, device_ids=[0])", "net.cuda()", id="first"),
        pytest.param("nn.DataParallel(net, device_ids=[0, 1])", "net.cuda()", id="first-of-two"),
        pytest.param("nn.DataParallel(net)", "net.cuda()", id="no-ids"),
        pytest.param("nn.DataParallel(net, device_ids=[rank])", "rank = 1\nnet.cuda()", id="name"),
        pytest.param("nn.DataParallel(net, device_ids=[1])", 'net.to("cuda:1")', id="same-index"),
        pytest.param("nn.DataParallel(net, device_ids=[1])", "torch.cuda.set_device(1)\nnet.cuda()", id="current"),
    ],
)
def test_matching_and_unknown_indices_are_not_reported(wrapper, move):
    assert wraps_in(wrapper, move)[2] == []


@pytest.mark.parametrize(("ids", "index"), [("[0]", 0), ("[2, 1]", 2), ("[1, rank]", None), ("[True]", None)])
def test_the_first_index_is_known_if_all_are_literals(ids, index):
    _, observations, _ = wraps_in(f"nn.DataParallel(net, device_ids={ids})", "rank = 1\nnet.cuda()")

    assert [first_index(wrapped) for wrapped in observations.of(ParallelWrap)] == [index]
