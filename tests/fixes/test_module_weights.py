"""Whether a module has parameters, and where its weights are."""

from __future__ import annotations

import pytest
from small_programs import observe

from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.analysis.scopes import visible
from devfix.fixes.module_weights import has_parameters, has_weights_on_accelerator, weight_devices

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = self.first
        self.loss = nn.MSELoss()


class Wrapped(nn.Module):
    def __init__(self, part=None):
        super().__init__()
        self.part = part


net = Net()
{statement}
torch.ones(3).cuda() + torch.ones(3)
"""


@pytest.mark.parametrize(
    ("statement", "devices", "has_some", "all_there"),
    [
        ("module = net", {CPU}, True, False),
        ("module = net.cuda()", {ACCELERATOR}, True, True),
        ("module = net.cuda(); net.last = nn.Linear(3, 3)", {ACCELERATOR, CPU}, True, False),
        ("module = Wrapped(net.cuda())", {ACCELERATOR}, True, True),
        ("module = Wrapped(Wrapped(net))", {CPU}, True, False),
        ("module = Wrapped(); module.part = module", set(), False, False),
        ("module = nn.ReLU().cuda()", set(), False, False),
        ("module = nn.CrossEntropyLoss(weight=torch.ones(3)).cuda()", {ACCELERATOR}, False, False),
        ("module = Wrapped(); module.scale = nn.Parameter(torch.ones(3))", {CPU}, True, False),
    ],
)
def test_the_weights_of_a_module_are_those_of_its_parts(statement, devices, has_some, all_there):
    point = observe(PROGRAM.format(statement=statement)).mismatches[-1].point
    module = visible(point, point.call_frame)["module"]

    assert weight_devices(point, module) == devices
    assert has_parameters(point.state, module) is has_some
    assert has_weights_on_accelerator(point, module) is all_there
