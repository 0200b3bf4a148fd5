"""Modules that a program keeps on the CPU on purpose."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, edited, observe, sides

from devfix.fixes.modules.cpu_offload import offload_move, offloaded_modules, transfer_fixes

SETUP = f"{DEVICE}teacher = nn.Linear(4, 2)\nx = torch.ones(3, 4).to(device)\n"


def transfers(text):
    observations = observe(text)
    (offloaded,) = offloaded_modules(observations)
    return [edited(text, fix.edits) for fix in transfer_fixes(observations, offloaded)]


@pytest.mark.parametrize(
    "move",
    [
        "teacher.cpu()",
        "teacher = teacher.to('cpu')",
        "host_device = torch.device('cpu')\nteacher.to(host_device)",
    ],
    ids=["cpu", "to", "dedicated-device"],
)
def test_a_module_with_a_separate_move_to_the_cpu_is_offloaded(move):
    observations = observe(f"{SETUP}{move}\nteacher(x)\n")
    (offloaded,) = offloaded_modules(observations)
    mismatch = observations.mismatches[0]

    assert offloaded.name == "teacher"
    assert offloaded.moved is offload_move(observations, mismatch.point, mismatch.cpu[0].module)
    assert offloaded.returns_tensor


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("teacher(x)", id="never-moved"),
        pytest.param("teacher = nn.Linear(4, 2).to('cpu')\nteacher(x)", id="in-the-construction"),
        pytest.param("teacher.cuda()\nteacher.cpu()\nteacher(x)", id="from-the-accelerator"),
        pytest.param("device = torch.device('cpu')\nteacher.to(device)\nteacher(x)", id="the-only-device"),
        pytest.param(
            "teacher.cpu()\nopt = torch.optim.SGD(teacher.parameters(), lr=1)\nopt.step()\nteacher(x)", id="trained"
        ),
    ],
)
def test_other_modules_are_not_offloaded(body):
    assert offloaded_modules(observe(f"{SETUP}{body}\n")) == []


def test_inputs_are_moved_to_the_cpu_and_outputs_back():
    before, after = sides("  teacher.cpu()\n- y = teacher(x)\n+ y = teacher(x.cpu())\n", SETUP)

    assert transfers(before) == [after, after.replace("(x.cpu())", "(x.cpu()).to(device)")]


@pytest.mark.parametrize(
    ("call", "expected"),
    [("a, b, c = teacher(x)", "a, b, c = teacher(x.cpu())"), ("y = teacher(x)[0]", "y = teacher(x.cpu())[0]")],
    ids=["unpacked", "indexed"],
)
def test_an_output_that_may_be_a_tuple_stays(call, expected):
    before, after = sides(f"  teacher.cpu()\n- {call}\n+ {expected}\n", SETUP)

    assert transfers(before) == [after]


def test_starred_inputs_are_not_moved():
    assert transfers(f"{SETUP}teacher.cpu()\ninputs = [x]\nteacher(*inputs)\n") == []
