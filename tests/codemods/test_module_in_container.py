"""DEV203 by example: how Python containers of modules become registered ones, and when that cannot be done."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Status
from devfix.sources import SourceFile

CODE = "DEV203"

NET = """\
import torch
{imports}

class Net({base}):
    def __init__(self, n=4):
        super().__init__()
        {init}

    def forward(self, x):
        {use}
        return x


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
net(torch.ones(2, 4, device=device))
"""
EACH = "for layer in self.layers:\n            x = layer(x)"


def net(init: str, use: str = EACH, imports: str = "from torch import nn\n", base: str = "nn.Module") -> str:
    return NET.format(init=init.replace("\n", "\n        "), use=use, imports=imports, base=base)


REWRITES = [
    pytest.param("[nn.Linear(n, n), nn.ReLU()]", "nn.ModuleList([nn.Linear(n, n), nn.ReLU()])", EACH, id="list"),
    pytest.param("(nn.Linear(n, n),)", "nn.ModuleList([nn.Linear(n, n)])", EACH, id="tuple"),
    pytest.param("[nn.Linear(n, n)] * 2", "nn.ModuleList([nn.Linear(n, n)] * 2)", EACH, id="repeated"),
    pytest.param("list(nn.Linear(n, n) for _ in range(2))", None, EACH, id="call-of-list"),
    pytest.param(
        "{'a': nn.Linear(n, n)}", "nn.ModuleDict({'a': nn.Linear(n, n)})", "x = self.layers['a'](x)", id="dictionary"
    ),
    pytest.param(
        "[[nn.Linear(n, n), nn.ReLU()] for _ in range(2)]",
        "nn.ModuleList([nn.ModuleList([nn.Linear(n, n), nn.ReLU()]) for _ in range(2)])",
        "for linear, act in self.layers:\n            x = act(linear(x))",
        id="nested",
    ),
    pytest.param(
        "[nn.Parameter(torch.ones(n, n))]",
        "nn.ParameterList([nn.Parameter(torch.ones(n, n))])",
        "x = x @ self.layers[0]",
        id="parameters",
    ),
]


@pytest.mark.parametrize(("before", "after", "use"), REWRITES)
def test_a_container_becomes_a_registered_one(repair, before, after, use):
    after = after or "nn.ModuleList(nn.Linear(n, n) for _ in range(2))"

    assert repair(CODE, net(f"self.layers = {before}", use)) == net(f"self.layers = {after}", use)


@pytest.mark.parametrize("grow", ["self.layers.append(nn.Linear(n, n))", "self.layers += [nn.Linear(n, n)]"])
def test_an_empty_list_is_registered_where_it_is_made_and_grows_as_before(repair, grow):
    program = "self.layers = {}\nfor _ in range(2):\n    " + grow

    assert repair(CODE, net(program.format("[]"))) == net(program.format("nn.ModuleList()"))


def test_a_local_list_is_registered_where_it_becomes_the_attribute(repair):
    program = "layers = []\nfor _ in range(2):\n    layers.append(nn.Linear(n, n))\nself.layers = {}"

    assert repair(CODE, net(program.format("layers"))) == net(program.format("nn.ModuleList(layers)"))


@pytest.mark.parametrize(
    ("imports", "more", "name"),
    [
        ("from torch.nn import Linear, Module\n", "from torch.nn import Linear, Module, ModuleList\n", "ModuleList"),
        ("from torch.nn import Linear, Module, ModuleList\n", None, "ModuleList"),
        ("import torch.nn as tnn\nfrom torch.nn import Linear, Module\n", None, "tnn.ModuleList"),
        ("Linear, Module = torch.nn.Linear, torch.nn.Module\n", None, "torch.nn.ModuleList"),
    ],
)
def test_the_container_has_the_name_that_the_file_has_for_it(repair, imports, more, name):
    before = net("self.layers = [Linear(n, n)]", imports=imports, base="Module")
    after = net(f"self.layers = {name}([Linear(n, n)])", imports=more or imports, base="Module")

    assert repair(CODE, before) == after


REASONS = [
    pytest.param("{0: nn.Linear(n, n)}", "x = self.layers[0](x)", "not strings", id="keys-are-numbers"),
    pytest.param("{'type': nn.Linear(n, n)}", "x = self.layers['type'](x)", "cannot be a key", id="key-is-taken"),
    pytest.param("{'a': nn.Linear(n, n)}", "x = self.layers.get('a')(x)", "does not have", id="get"),
    pytest.param("[nn.Linear(n, n), torch.relu]", "x = self.layers[0](x)", "not modules", id="function-inside"),
    pytest.param("[nn.Linear(n, n)]", f"self.layers.reverse()\n        {EACH}", "does not have", id="reverse"),
]


@pytest.mark.parametrize(("value", "use", "reason"), REASONS)
def test_what_a_registered_container_cannot_do_is_left_alone_and_said(tmp_path, value, use, reason):
    program = net(f"self.layers = {value}", use)
    file = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.apply([file], Settings(select=(CODE,), unsafe_fixes=True, root=str(tmp_path)))

    assert outcome.patch.files == ()
    assert [resolution.status for resolution in outcome.resolutions] == [Status.NOT_FIXED]
    assert reason in outcome.resolutions[0].reason


def test_the_fix_waits_for_consent_and_says_what_it_changes(tmp_path):
    program = net("self.layers = [nn.Linear(n, n)]")
    file = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.apply([file], Settings(root=str(tmp_path)))

    assert outcome.patch.files == ()
    (resolution,) = outcome.resolutions
    assert (resolution.finding.code, resolution.status) == (CODE, Status.FIXABLE)
    assert any("state dict" in note for note in resolution.finding.notes)


def test_parameters_in_a_list_are_told_of_once(tmp_path):
    program = net("self.layers = [nn.Parameter(torch.ones(n, n))]", "x = x @ self.layers[0] @ self.layers[0].t()")
    file = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.apply([file], Settings(root=str(tmp_path)))

    assert outcome.patch.files == ()
    assert [resolution.finding.code for resolution in outcome.resolutions] == [CODE]


UNCHANGED = [
    pytest.param("self.layers = [nn.ReLU(), nn.Dropout()]", id="no-weights"),
    pytest.param("self.layers = [nn.Linear(n, n)]\nself.net = nn.Sequential(*self.layers)", id="in-a-sequential"),
    pytest.param("self.layers = [nn.Linear(n, n)]\nself.add_module('a', self.layers[0])", id="added-by-name"),
    pytest.param("self.a = nn.Linear(n, n)\nself.layers = (self.a, self.a)", id="tuple-of-attributes"),
    pytest.param("self.layers = [nn.Linear(n, n).to('cuda')]", id="moved-one-by-one"),
    pytest.param("self.layers = nn.ModuleList([nn.Linear(n, n)])", id="registered"),
    pytest.param(
        "self.layers = [nn.Linear(n, n)]\nfor i, p in enumerate(self.layers[0].parameters()):\n"
        "    self.register_parameter(name=f'layer_{i}', param=p)",
        id="registered-parameters",
    ),
]


@pytest.mark.parametrize("init", UNCHANGED)
def test_layers_that_move_are_left_alone(repair, init):
    assert repair(CODE, net(init)) == net(init)
