"""Class weights of functional losses."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, edited, observe

from devfix.fixes.modules.loss_weights import is_loss_weight, loss_weight_findings

SETUP = "import torch.nn.functional as F\ny = torch.ones(3, 4).to(device)\nt = torch.ones(3).long().to(device)\n"
WEIGHTS = "w = torch.ones(4)\n"


def findings_in(body):
    text = f"{DEVICE}{SETUP}{body}\n"
    return text, list(loss_weight_findings(observe(text), "DEV201", "name"))


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        pytest.param(
            f"{WEIGHTS}F.cross_entropy(y, t, weight=w)", "torch.ones(4)\n", "torch.ones(4).to(device)\n", id="binding"
        ),
        pytest.param(
            f"{WEIGHTS}print(w)\nF.cross_entropy(y, t, weight=w)", "weight=w", "weight=w.to(device)", id="other-use"
        ),
        pytest.param(
            "F.cross_entropy(y, t, weight=torch.ones(4))",
            "weight=torch.ones(4)",
            "weight=torch.ones(4).to(device)",
            id="without-a-name",
        ),
        pytest.param(
            f"{WEIGHTS}F.binary_cross_entropy_with_logits(y, y, pos_weight=w)",
            "torch.ones(4)\n",
            "torch.ones(4).to(device)\n",
            id="pos-weight",
        ),
    ],
)
def test_the_weights_are_moved_to_the_device_of_the_loss(body, old, new):
    text, (finding,) = findings_in(body)

    assert edited(text, finding.fixes[0].edits) == text.replace(old, new)
    assert finding.reason == ""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("F.cross_entropy(y, t)", id="no-weights"),
        pytest.param(f"{WEIGHTS}y + w", id="other-operation"),
        pytest.param(f"{WEIGHTS}F.cross_entropy(y, t, weight=w.to(device))", id="moved"),
        pytest.param(f"{WEIGHTS}F.cross_entropy(y, t, weight=w)\ny + w", id="used-as-an-operand"),
        pytest.param("F.cross_entropy(y, torch.ones(3).long())", id="target"),
    ],
)
def test_other_uses_have_no_finding(body):
    assert findings_in(body)[1] == []


@pytest.mark.parametrize(
    ("body", "is_weight"),
    [
        ("F.cross_entropy(y, t, weight=w)", True),
        ("F.cross_entropy(y, t, weight=w) + (y + w).sum()", False),
        ("y + w", False),
    ],
    ids=["weight", "also-operand", "operand"],
)
def test_a_tensor_is_a_loss_weight_if_all_its_uses_are(body, is_weight):
    observations = observe(f"{DEVICE}{SETUP}{WEIGHTS}{body}\n")
    (origin,) = observations.mismatches[0].cpu[0].origins

    assert is_loss_weight(observations, origin.site_id) is is_weight
    assert is_loss_weight(observations, 99) is False


def test_in_a_module_the_weights_follow_the_input():
    body = (
        "class Loss(nn.Module):\n    def forward(self, out):\n        w = torch.ones(4)\n"
        "        return F.cross_entropy(out, t, weight=w)\n\nLoss()(y)"
    )
    text, (finding,) = findings_in(body)

    assert edited(text, finding.fixes[-1].edits) == text.replace("weight=w", "weight=w.to(out.device)")


def test_an_assignment_in_a_function_that_is_not_called_is_not_edited():
    other = "def other():\n    w = torch.rand(4)\n    return F.cross_entropy(y, t, weight=w)\n\n\n"
    body = f"{other}def loss(w):\n    return F.cross_entropy(y, t, weight=w)\n\n\nloss(torch.ones(4))"
    text, found = findings_in(body)

    assert found
    assert all("rand(4).to" not in edited(text, fix.edits) for finding in found for fix in finding.fixes)
