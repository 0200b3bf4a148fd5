"""``torch.nn.utils.parametrize``: parametrizations are submodules, and are called with the parameter."""

from __future__ import annotations

import pytest
from device_programs import Program, check_broken, check_right

RIGHT = [
    Program(
        "parametrized",
        """
from torch.nn.utils import parametrize


class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).transpose(-1, -2)


layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
layer.cuda()
layer(torch.ones(2, 3, device="cuda"))
layer.weight + layer.parametrizations.weight.original + torch.ones(3, device="cuda")
with parametrize.cached():
    layer(torch.ones(2, 3, device="cuda"))
parametrize.remove_parametrizations(layer, "weight")
layer(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "parametrized-on-the-accelerator",
        """
class Masked(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, weight):
        return weight * self.mask


layer = nn.Linear(3, 3).cuda()
nn.utils.parametrize.register_parametrization(layer, "weight", Masked(torch.ones(3, 3, device="cuda")))
layer(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "parametrizations",
        """
layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)).cuda()
other = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3).cuda())
other(layer(torch.ones(2, 3, device="cuda")))
nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)).to("cuda")(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "parametrize-parts",
        """
from torch.nn.utils import parametrize


class Exp(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x.exp() * self.scale

    def right_inverse(self, w):
        return (w / self.scale).abs().log()


layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Exp(3))
parametrize.register_parametrization(layer, "bias", nn.Sequential(nn.Tanh(), nn.ReLU()), unsafe=True)
layer = layer.to("cuda")
x = torch.ones(2, 3, device="cuda")
layer(x) + layer.weight[0] + layer.bias
layer.parametrizations["weight"][0].scale + x
layer.parametrizations.weight.original.grad
layer.weight = torch.ones(3, 3, device="cuda")
parametrize.is_parametrized(layer, "weight")
for name, p in layer.named_parameters():
    p + torch.ones(1, device="cuda")
""",
    ),
    Program(
        "parametrize-in-init",
        """
from torch.nn.utils.parametrize import register_parametrization


class Skew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("identity", torch.eye(n))

    def forward(self, x):
        a = x.triu(1)
        return torch.linalg.solve(self.identity + (a - a.T), self.identity - (a - a.T))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        register_parametrization(self.a, "weight", Skew(3))
        self.w = nn.Parameter(torch.ones(3, 3))
        register_parametrization(self, "w", Skew(3))

    def forward(self, x):
        return self.a(x) @ self.w


net = Net().cuda()
net(torch.ones(2, 3, device="cuda")).sum().backward()
""",
    ),
    Program(
        "weight-norm-legacy",
        """
layer = nn.utils.weight_norm(nn.Linear(3, 3), name="weight").cuda()
layer(torch.ones(3, 3, device="cuda")) + layer.weight_g.T + layer.weight_v
nn.utils.remove_weight_norm(layer)
layer(torch.ones(2, 3, device="cuda"))
conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 3, 1))
conv.parametrizations.weight.original0
conv.cuda()(torch.ones(2, 3, 4, device="cuda"))
""",
    ),
    Program(
        "prune",
        """
from torch.nn.utils import prune

layer = nn.Linear(3, 3)
prune.l1_unstructured(layer, "weight", amount=1)
layer.cuda()
layer(torch.ones(2, 3, device="cuda"))
layer.weight_mask + layer.weight_orig + torch.ones(3, device="cuda")
prune.remove(layer, "weight")
layer(torch.ones(2, 3, device="cuda"))
""",
    ),
]

BROKEN = [
    Program(
        "parametrized",
        """
class Masked(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def forward(self, weight):
        return weight * self.mask


layer = nn.Linear(3, 3)
nn.utils.parametrize.register_parametrization(layer, "weight", Masked(torch.ones(3, 3)))
layer.cuda()
layer(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "parametrized-registration",
        """
class Masked(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def forward(self, weight):
        return weight * self.mask


layer = nn.Linear(3, 3).cuda()
nn.utils.parametrize.register_parametrization(layer, "weight", Masked(torch.ones(3, 3)))
""",
    ),
    Program(
        "parametrized-late",
        """
class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(3))

    def forward(self, weight):
        return weight + self.shift


layer = nn.Linear(3, 3).cuda()
nn.utils.parametrize.register_parametrization(layer, "weight", Shifted())
""",
    ),
    Program(
        "parametrized-input",
        """
layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)).cuda()
layer(torch.ones(2, 3))
""",
    ),
    Program(
        "parametrized-weight",
        """
layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
layer.weight @ torch.ones(3, device="cuda")
""",
    ),
]


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_a_right_program_runs_and_nothing_is_reported(program):
    check_right(program)


@pytest.mark.parametrize("program", BROKEN, ids=str)
def test_a_broken_program_fails_on_its_last_line_and_is_reported(program):
    check_broken(program)
