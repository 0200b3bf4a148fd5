"""Lazy modules: their weights are where the module is when it is called first."""

from __future__ import annotations

import pytest
from device_programs import Program, check_broken, check_right

RIGHT = [
    Program(
        "lazy-after-a-dry-run",
        """
model = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2))
model(torch.ones(2, 3))
model.cuda()
model(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "lazy-moved-first",
        """
model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)).to("cuda")
out = model(torch.ones(2, 3, 5, 5, device="cuda"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
out.sum().backward()
optimizer.step()
""",
    ),
    Program(
        "lazy-with-a-device",
        """
layer = nn.LazyLinear(4, device="cuda")
layer(torch.ones(2, 3, device="cuda")) + layer.weight.sum()
""",
    ),
    Program(
        "lazy-class",
        """
class LazyScale(nn.modules.lazy.LazyModuleMixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.parameter.UninitializedParameter()
        self.register_buffer("shift", nn.parameter.UninitializedBuffer())

    def initialize_parameters(self, x):
        if self.has_uninitialized_params():
            self.scale.materialize((x.shape[-1],))
            self.shift.materialize((x.shape[-1],))
            nn.init.ones_(self.scale)

    def forward(self, x):
        return x * self.scale + self.shift


model = LazyScale().cuda()
model(torch.ones(2, 3, device="cuda"))
other = LazyScale()
other(torch.ones(2, 3))
other.to("cuda")(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "lazy-materialized-elsewhere",
        """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.parameter.UninitializedParameter()

    def forward(self, x):
        return x * self.scale


model = Scale()
model.scale.materialize((3,), device="cuda")
model(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "lazy-in-a-class",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.LazyConv2d(4, 3)
        self.norm = nn.LazyInstanceNorm2d()
        self.head = nn.LazyLinear(2)

    def forward(self, x):
        return self.head(self.norm(self.conv(x)).flatten(1))


device = "cuda" if torch.cuda.is_available() else "cpu"
net = Net()
net(torch.ones(2, 3, 8, 8))
net = net.to(device)
optimizer = torch.optim.Adam(net.parameters())
loss = net(torch.ones(2, 3, 8, 8, device=device)).sum()
loss.backward()
optimizer.step()
net.head.weight + torch.ones(1, device=device)
isinstance(net.head, nn.Linear)
""",
    ),
]

BROKEN = [
    Program(
        "lazy-unmoved",
        """
model = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
model(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "lazy-input",
        """
model = nn.LazyConv2d(4, 3).cuda()
model(torch.ones(2, 3, 5, 5))
""",
    ),
    Program(
        "lazy-weight",
        """
layer = nn.LazyLinear(2)
layer(torch.ones(2, 3))
layer.weight * torch.ones(3, device="cuda")
""",
    ),
    Program(
        "lazy-parameter",
        """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.parameter.UninitializedParameter()

    def forward(self, x):
        return x * self.scale


model = Scale()
model.scale.materialize((3,))
model(torch.ones(2, 3, device="cuda"))
""",
        missed="materialize() may place the parameter on any device",
    ),
]


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_a_right_program_runs_and_nothing_is_reported(program):
    check_right(program)


@pytest.mark.parametrize("program", BROKEN, ids=str)
def test_a_broken_program_fails_on_its_last_line_and_is_reported(program):
    check_broken(program)
