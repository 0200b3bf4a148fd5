"""DEV502 by example: values that meet on two accelerators."""

from __future__ import annotations

import pytest

CODE = "DEV502"
HALVES = """
  first, second = torch.device("cuda:0"), torch.device("cuda:1")
  front = nn.Linear(4, 8).to(first)
  back = nn.Linear(8, 2).to(second)
  x = torch.randn(3, 4)
"""

REWRITES = [
    pytest.param(HALVES + "- back(front(x.to(first)))\n+ back(front(x.to(first)).to(second))\n", id="handed-over"),
    pytest.param(
        HALVES + "  h = front(x.to(first))\n- out = h[:, :2] + back(h.to(second))\n"
        "+ out = h[:, :2] + back(h.to(second)).to(h.device)\n",
        id="sum",
    ),
    pytest.param(
        HALVES + "  h = front(x.to(first))\n- back(torch.relu(h))\n+ back(torch.relu(h).to(second))\n",
        id="expression",
    ),
    pytest.param(
        HALVES + "  for layer in (front, back):\n-     x = layer(x.to(first))\n"
        "+     x = layer(x.to(first).to(next(layer.parameters()).device))\n",
        id="in-a-loop",
    ),
    pytest.param(
        HALVES + "  h = front(x.to(first))\n- out = back(h)\n+ out = back(h.to(second))\n"
        "- (out - h[:, :2]).sum().backward()\n+ (out - h[:, :2].to(out.device)).sum().backward()\n",
        id="one-behind-the-other",
    ),
]

SILENT = [
    pytest.param(HALVES + "  back(front(x.to(first)).to(second))\n", id="moved"),
    pytest.param(HALVES + "  print(back(x.to(second)).sum().item() + front(x.to(first)).sum().item())\n", id="numbers"),
    pytest.param(HALVES + "  h = torch.zeros(3, 8).to(first)\n  h[:] = front(x.to(first))\n", id="one-half"),
    pytest.param('  model = nn.Linear(4, 2).to("cuda:1")\n  model(torch.ones(3, 4).to("cuda:1"))\n', id="one-device"),
    pytest.param("  model = nn.DataParallel(nn.Linear(4, 2)).cuda(1)\n  model(torch.ones(3, 4))\n", id="data-parallel"),
]


@pytest.mark.parametrize("body", REWRITES)
def test_the_edit_is_the_one_that_an_author_would_make(before_and_after, repair, body):
    before, after = before_and_after(body)

    assert repair(CODE, before) == after


HALF = """\
import torch
from torch import nn


class Half(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.layer = nn.Linear(3, 3).to(device)

    def forward(self, x):
        return self.layer(x)


first, second = Half("cuda:0"), Half("cuda:1")
second(first(torch.ones(2, 3).to("cuda:0")))
"""


@pytest.mark.parametrize("wrap", ["", "nn.DataParallel(nn.Linear(3, 3))\n"], ids=["alone", "replicated"])
def test_parameters_are_not_asked_in_what_may_be_a_replica_without_any(repair, wrap):
    assert ("parameters()" in repair(CODE, HALF + wrap)) is (not wrap)


@pytest.mark.parametrize("body", SILENT)
@pytest.mark.parametrize("code", ["DEV502", "DEV801"])
def test_what_is_right_stays_to_the_other_rule_for_accelerators_too(unchanged, repair, code, body):
    text = unchanged(body)

    assert repair(code, text) == text
