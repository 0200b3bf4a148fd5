"""Copies of parameters that are created before the model is moved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_programs import DEVICE, edited, observe, sides

from devfix.fixes.modules.parameter_copies import create_like_parameter, early_copies, early_copy
from devfix.fixes.reorder_after_move import constructed_after

SETUP = f"{DEVICE}net = nn.Linear(4, 2)\n"
COPY = "old = [p.clone() for p in net.parameters()]"
USE = "for p, q in zip(net.parameters(), old):\n      p - q"


@pytest.mark.parametrize(
    "copy",
    [COPY, "old = [torch.zeros_like(p) for p in net.parameters()]"],
    ids=["clone", "zeros-like"],
)
def test_a_copy_before_the_move_is_found(copy):
    before, after = sides(f"- {copy}\n  net.to(device)\n+ {copy}\n  {USE}\n", SETUP)
    observations = observe(before)
    (hazard,) = early_copies(observations)

    assert (hazard.kind, hazard.optimizer) == ("copied", "old")
    assert edited(before, constructed_after(observations, hazard.built, hazard.late)[0].edits) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"net.to(device)\n{COPY}\n{USE}", id="after-the-move"),
        pytest.param(f"{COPY}\n{USE}", id="no-move"),
        pytest.param(f"{COPY}\nnet.to(device, old)\n{USE}", id="needed-for-the-move"),
        pytest.param("net.to(device)\ntorch.ones(4) + net.weight", id="other-tensor"),
    ],
)
def test_other_copies_are_not_early(body):
    assert list(early_copies(observe(f"{SETUP}{body}\n".replace("\n      p", "\n    p")))) == []


def test_the_copy_of_an_operand_comes_with_the_later_move():
    observations = observe(f"{SETUP}{COPY}\nnet.to(device)\n{USE}\n")
    mismatch = observations.mismatches[0]
    copy, moved = early_copy(observations, mismatch, mismatch.cpu[0])

    assert (copy.point.span.line, moved.span.line) == (7, 8)
    assert early_copy(observations, mismatch, replace(mismatch.cpu[0], is_certain=False)) is None


def created(body):
    text = f"{SETUP}{body}\n"
    observations = observe(text)
    mismatch = observations.mismatches[0]
    (origin,) = mismatch.cpu[0].origins
    point = observations.sources[origin.site_id].point
    return edited(text, create_like_parameter(observations, origin.site_id, point, mismatch)).removeprefix(SETUP)


LOOP = "for p in net.parameters():\n    m = torch.zeros({})\n    p + m\n"


@pytest.mark.parametrize("shape", ["p.shape", "p.size()"])
def test_a_tensor_with_the_shape_of_a_parameter_is_created_on_its_device(shape):
    body = "net.to(device)\n" + LOOP.format(shape)

    assert created(body.rstrip()) == "net.to(device)\n" + LOOP.format(f"{shape}, device=p.device")


def test_a_tensor_created_before_the_move_is_also_moved_behind_it():
    zeros = "old = [torch.zeros(p.shape{}) for p in net.parameters()]\n"
    use = "for p, q in zip(net.parameters(), old):\n    p - q\n"

    assert created(f"{zeros.format('')}net.to(device)\n{use}".rstrip()) == (
        f"net.to(device)\n{zeros.format(', device=p.device')}{use}"
    )


def test_a_tensor_with_its_own_shape_is_unchanged():
    body = "net.to(device)\nm = torch.zeros(2, 4)\nnet.weight + m\n"

    assert created(body.rstrip()) == body
