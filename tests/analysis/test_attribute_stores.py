"""Attributes and containers that hold tensors: what stays where it is when the module moves."""

from __future__ import annotations

import pytest

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        {init}

    def forward(self, x):
        return {use}

net = Net()
{after}
net.to("cuda")
net(torch.ones(3, 4, device="cuda"))
"""


def net(init: str, use: str, after: str = "") -> str:
    return NET.format(init=init, use=use, after=after)


@pytest.mark.parametrize(
    ("init", "use"),
    [
        pytest.param("self.mask = torch.ones(4)", "self.fc(x) * self.mask", id="plain"),
        pytest.param("self.a, self.b = torch.ones(4), torch.ones(4)", "x * self.b", id="tuple"),
        pytest.param("self.mask: torch.Tensor = torch.ones(4)", "x * self.mask", id="annotated"),
        pytest.param("setattr(self, 'mask', torch.ones(4))", "x * self.mask", id="setattr"),
        pytest.param("self.all = [torch.ones(4)]", "x * self.all[0]", id="list"),
        pytest.param("self.all = []; self.all.append(torch.ones(4))", "x * self.all[0]", id="appended"),
        pytest.param("self.all = {'a': torch.ones(4)}", "x * self.all['a']", id="dictionary"),
        pytest.param("self.register_buffer('pe', torch.ones(4)); self.alias = self.pe", "x * self.alias", id="alias"),
        pytest.param("self.w = self.fc.weight.data", "x @ self.w", id="data-of-a-parameter"),
        pytest.param("self.w = self.fc.weight.detach().clone()", "x @ self.w", id="copy-of-a-parameter"),
        pytest.param("self.w = self.fc.weight.expand(4, 4)", "x @ self.w", id="view-of-a-parameter"),
        pytest.param("self.all = [self.fc.weight.data]", "x @ self.all[0]", id="list-of-data"),
        pytest.param(
            "self.register_buffer('pe', torch.ones(4)); self.all = [self.pe]", "x * self.all[0]", id="list-of-buffers"
        ),
    ],
)
def test_what_is_no_buffer_stays_and_is_known_to_come_from_the_attribute(analyse, init, use):
    observations = analyse(net(init, use))

    assert len(observations.mismatches) == 1
    origins = [origin for operand in observations.mismatches[0].cpu for origin in operand.origins]
    assert origins
    assert all(origin.attribute_id for origin in origins)


@pytest.mark.parametrize(
    ("init", "use"),
    [
        pytest.param("self.register_buffer('mask', torch.ones(4))", "x * self.mask", id="buffer"),
        pytest.param("self.register_buffer('mask', None); self.mask = torch.ones(4)", "x * self.mask", id="filled"),
        pytest.param("self.w = nn.Parameter(torch.ones(4, 4))", "x @ self.w", id="parameter"),
        pytest.param("self.w = self.fc.weight", "x @ self.w", id="shared-parameter"),
        pytest.param("self.w = self.fc.weight.contiguous()", "x @ self.w", id="method-that-returns-the-parameter"),
        pytest.param("self.w = self.fc.weight.float()", "x @ self.w", id="parameter-of-that-type"),
        pytest.param(
            "self.w = nn.Parameter(torch.ones(4, 4)); self.all = [self.w]", "x @ self.all[0]", id="list-of-parameters"
        ),
        pytest.param(
            "self.w = nn.Parameter(torch.ones(4)); self.all = []; self.all.append(self.w)",
            "x * self.all[0] + torch.stack(self.all).sum(0)",
            id="appended-parameter",
        ),
        pytest.param("self.all = {'w': self.fc.weight}", "x @ self.all['w']", id="dictionary-of-parameters"),
        pytest.param("self.mask = torch.ones(4)", "x * self.mask.to(x.device)", id="moved-at-use"),
    ],
)
def test_what_is_registered_moves(met, init, use):
    assert met(net(init, use)) == []


def test_a_class_that_says_what_moves_with_it_is_believed(met):
    program = net("self.mask = torch.ones(4)", "x * self.mask").replace(
        "    def forward",
        "    def _apply(self, fn):\n"
        "        super()._apply(fn)\n"
        "        self.mask = fn(self.mask)\n"
        "        return self\n\n"
        "    def forward",
    )

    assert met(program) == []


def test_an_attribute_of_the_class_is_an_attribute_too(analyse):
    observations = analyse("class Loss:\n    w = torch.ones(4)\n\ntorch.ones(4, device='cuda') * Loss().w\n")

    assert [
        origin.attribute_id
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
        for origin in operand.origins
    ] == [1]


@pytest.mark.parametrize("index", ["t", "t > 1", "(t, t)", "(slice(None), t)"])
def test_a_cpu_table_takes_no_indices_from_the_accelerator(met, index):
    program = f"table = torch.ones(9, 9)\nt = torch.ones(3, device='cuda').long()\ntable[{index}]\n"

    assert met(program) == [f"table[{index}]"]


@pytest.mark.parametrize(
    ("table", "index"),
    [
        pytest.param("torch.ones(9)", "torch.argmax(t)", id="number-on-the-accelerator"),
        pytest.param("torch.ones(9)", "t[0]", id="element"),
        pytest.param("torch.ones(9)", "t.cpu()", id="moved"),
        pytest.param("torch.ones(9, device='cuda')", "t.cpu()", id="cpu-indices"),
        pytest.param("torch.ones(9).to(t.device)", "t", id="moved-table"),
    ],
)
def test_indices_that_are_allowed(met, table, index):
    assert met(f"t = torch.ones(3, device='cuda').long()\ntable = {table}\ntable[{index}]\n") == []


HOLDER = """
class Gaussian:
    def __init__(self, mu):
        self.mu = mu

    def sample(self, x):
        return self.mu * x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Parameter(torch.ones(4))
        self.table = torch.ones(4)
        self.held = Gaussian({given})

    def forward(self, x):
        return self.held.sample(x)

net = Net().to("cuda")
net(torch.ones(3, 4, device="cuda"))
"""


@pytest.mark.parametrize(("given", "number"), [("self.mu", 0), ("self.table", 1), ("torch.ones(4)", 1)])
def test_a_parameter_moves_wherever_it_is_held(met, given, number):
    """The move replaces the data of a parameter; the object that others hold stays the same."""
    assert len(met(HOLDER.format(given=given))) == number
