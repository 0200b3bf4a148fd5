"""Calls whose hard-coded device conflicts with the device that the program chooses."""

from __future__ import annotations

import ast

import pytest
from small_programs import DEVICE, IMPORTS, observe

from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.fixes.devices.conflicting_devices import device_conflicts, is_load


def conflicts_in(text):
    return list(device_conflicts(observe(text + "\n")))


NET = "net = nn.Linear(4, 2).to(device)\n"


@pytest.mark.parametrize(
    ("body", "call", "device"),
    [
        pytest.param(f"{NET}net(torch.ones(3, 4).cuda())", "torch.ones(3, 4).cuda()", ACCELERATOR, id="cuda"),
        pytest.param(
            f"{NET}x = torch.ones(3, 4, device='cuda')", "torch.ones(3, 4, device='cuda')", ACCELERATOR, id="new"
        ),
        pytest.param(f"{NET}net(torch.ones(3, 4).to('cpu'))", "torch.ones(3, 4).to('cpu')", CPU, id="cpu"),
        pytest.param(
            f"{NET}x = torch.ones(3, 4, device='cpu')\nnet(x)", "torch.ones(3, 4, device='cpu')", CPU, id="made"
        ),
        pytest.param(
            "net = nn.Linear(4, 2).to('cpu')\nnet(torch.ones(4).to(device))",
            "nn.Linear(4, 2).to('cpu')",
            CPU,
            id="module",
        ),
    ],
)
def test_the_conflicting_call_is_found(body, call, device):
    (conflict,) = conflicts_in(DEVICE + body)

    assert (ast.unparse(conflict.call), conflict.device, conflict.certain) == (call, device, True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{DEVICE}{NET}net(torch.ones(3, 4).to(device))", id="chosen"),
        pytest.param(f"{DEVICE}{NET}x = torch.ones(3)\nx.to(x.device) + 1", id="device-of-a-tensor"),
        pytest.param(f"{DEVICE}{NET}if torch.cuda.is_available():\n    torch.ones(3).cuda()", id="guarded"),
        pytest.param(f"{DEVICE}{NET}torch.ones(3, 4).cpu()", id="unused"),
        pytest.param(f"{IMPORTS}net = nn.Linear(4, 2).cuda()\nnet(torch.ones(4).cuda())", id="only-cuda"),
        pytest.param(f"{DEVICE}{NET}y = torch.ones(3).to(device)\nprint(y.cpu().numpy())", id="for-numpy"),
    ],
)
def test_without_a_conflict_nothing_is_found(text):
    assert conflicts_in(text) == []


def test_another_index_than_the_configured_one_conflicts():
    text = f"{IMPORTS}net = nn.Linear(4, 2).to('cuda:1')\nnet(torch.ones(3, 4).cuda())"
    (conflict,) = conflicts_in(text)

    assert ast.unparse(conflict.call) == "torch.ones(3, 4).cuda()"
    assert conflict.mismatch is not None


@pytest.mark.parametrize(
    ("text", "fits"), [("device", True), ("net", True), ("x", False), ("missing", False), ("not valid", False)]
)
def test_an_expression_has_the_device_of_the_program(text, fits):
    (conflict,) = conflicts_in(f"{DEVICE}{NET}x = torch.ones(3, 4)\nnet(x.cuda())")

    assert conflict.has_program_device(text) is fits


def test_the_partners_are_the_other_operands():
    (conflict,) = conflicts_in(f"{DEVICE}{NET}x = torch.ones(3, 4).cpu()\ny = torch.ones(3, 4).to(device)\nx + y")

    assert conflict.partners == ["x", "y"]
    assert not conflict.was_on_accelerator


@pytest.mark.parametrize(
    ("call", "load"), [("torch.load(f)", True), ("load_file(f)", True), ("x.cuda()", False), ("loads(f)", False)]
)
def test_a_load_reads_a_file(call, load):
    assert is_load(ast.parse(call, mode="eval").body) is load


@pytest.mark.parametrize(
    "follower",
    [
        pytest.param("torch.ones(3).type_as(y)", id="type-as"),
        pytest.param("torch.ones(3, device=y.device)", id="device"),
        pytest.param("noise(y.device)", id="passed"),
        pytest.param("noise(device=y.device)", id="passed-by-name"),
    ],
)
def test_what_follows_a_value_is_no_conflict_of_its_own(follower):
    body = f"def noise(device):\n    return torch.ones(3, device=device)\n{NET}y = torch.ones(3).cuda()\n{follower}"

    assert [ast.unparse(conflict.call) for conflict in conflicts_in(DEVICE + body)] == ["torch.ones(3).cuda()"]
