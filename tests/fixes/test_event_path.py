"""The events of a finding."""

from __future__ import annotations

import pytest
from small_programs import observe

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
