"""The events of a finding."""

from __future__ import annotations

import pytest
from small_programs import observe

from devfix.analysis.domain.values import ACCELERATOR
from devfix.fixes.event_path import event_path

POINT, LATER = (
    mismatch.point
    for mismatch in observe(
        "import torch\n\nx = torch.ones(3).cuda()\nx + torch.ones(3)\nx * torch.ones(3)\n"
    ).mismatches
)


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        pytest.param([(POINT, "used", "a"), (LATER, "used", "b")], [(4, "used", "a"), (5, "used", "b")], id="order"),
        pytest.param([(LATER, "used", "b"), (POINT, "used", "a")], [(5, "used", "b"), (4, "used", "a")], id="as-given"),
        pytest.param([(None, "moved", "m"), (POINT, "used", "a")], [(4, "used", "a")], id="without-point"),
        pytest.param([(POINT, "used", "a"), (POINT, "used", "b")], [(4, "used", "a")], id="same-line"),
        pytest.param([(POINT, "made", "a"), (POINT, "used", "b")], [(4, "made", "a"), (4, "used", "b")], id="kinds"),
        pytest.param([(None, "used", "a")], [], id="nothing"),
        pytest.param([], [], id="no-step"),
    ],
)
def test_the_path_has_one_event_per_line_and_kind(steps, path):
    assert [(event.line, event.kind, event.note) for event in event_path(*steps)] == path


CALLS = """\
import torch
from torch import nn


class Shift(nn.Module):
    def forward(self, x):
        return self.shifted(x)

    def shifted(self, x):
        return x + torch.ones(3)


def run(model, x):
    return model(x)


def made():
    return torch.ones(3).cuda()


def main():
    run(
        Shift(),
        made(),
    )


main()
"""


def test_calls_lead_from_one_step_to_the_next():
    observations = observe(CALLS)
    (mismatch,) = observations.mismatches
    (by_device,) = observations.device_assignments.values()
    moved = by_device[ACCELERATOR].point

    path = event_path((moved, "moved", "a"), (mismatch.point, "used", "b"))

    assert [(event.line, event.kind) for event in path] == [
        (18, "moved"),
        (22, "called"),  # in the function that both have in common: its statement begins here
        (14, "called"),
        (7, "called"),
        (10, "used"),
    ]
    assert {event.note for event in path if event.kind == "called"} == {"called here"}


def test_what_leads_to_the_first_step_is_not_told():
    (mismatch,) = observe(CALLS).mismatches

    assert [event.line for event in event_path((mismatch.point, "used", "a"))] == [10]
