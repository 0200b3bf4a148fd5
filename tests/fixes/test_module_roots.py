"""Root modules that are never moved, and their names."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, observe

from devfix.analysis.stdlib.instances import InstanceObject
from devfix.fixes.modules.module_roots import (
    chain_of,
    container_names,
    has_to_method,
    is_made_by_program,
    root_module_of,
    root_names,
    unmoved_roots,
)
from devfix.fixes.modules.structural_changes import weights_of

X = "x = torch.ones(3, 4).cuda()\n"
NET = "net = nn.Sequential(nn.Linear(4, 2))\n"


def roots_in(body):
    observations = observe(f"{IMPORTS}{X}{body}\n")
    mismatch = observations.mismatches[0]
    return mismatch, unmoved_roots(observations, mismatch, mismatch.cpu[0])


@pytest.mark.parametrize(
    ("body", "construction"),
    [
        pytest.param("net = nn.Linear(4, 2)\nnet(x)", "nn.Linear(4, 2)", id="one-module"),
        pytest.param(NET + "net(x)", "nn.Sequential(nn.Linear(4, 2))", id="outermost"),
        pytest.param(NET + "net[0](x)", "nn.Sequential(nn.Linear(4, 2))", id="part-is-called"),
        pytest.param(NET + "nn.DataParallel(net)(x)", "nn.Sequential(nn.Linear(4, 2))", id="below-the-wrapper"),
    ],
)
def test_the_root_is_the_outermost_module(body, construction):
    mismatch, (root,) = roots_in(body)

    assert mismatch.point.tree.source(root.allocated_at.node) == construction
    assert root.conditional_move is None
    assert root.id == root.chain[0]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("net = nn.Linear(4, 2).to('cpu')\nnet(x)", id="moved-to-the-cpu"),
        pytest.param(NET + "net.cuda()\nnet[0] = nn.Linear(4, 3)\nnet(x)", id="attached-after-the-move"),
        pytest.param("x + torch.ones(4)", id="no-module"),
        pytest.param(
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.parts = [nn.Linear(4, 2)]\n\n    def forward(self, x):\n        return self.parts[0](x)\n\n"
            "Net()(x)",
            id="in-a-list",
        ),
    ],
)
def test_weights_with_another_cause_have_no_root(body):
    assert roots_in(body)[1] == []


def test_a_move_on_another_path_is_recorded():
    _, (root,) = roots_in("import sys\n" + NET + "if sys.argv[1:]:\n    net.cuda()\nnet(x)")

    assert root.conditional_move.span.line == 9


def test_what_the_program_sends_to_the_cpu_on_another_path_is_no_oversight():
    moves = "if sys.argv[1:]:\n    net.cuda()\n    net(x)\n    net.cpu()\nif len(sys.argv) < 2:\n    net.cuda()\n"
    used = "if x.mean() > 0:\n    net(x)"

    assert roots_in(f"import sys\n{NET}{moves}{used}")[1] == []


def test_the_chain_leads_to_the_owner_of_the_weights():
    observations = observe(f"{IMPORTS}{X}{NET}nn.Sequential(net)(x)\n")
    mismatch = observations.mismatches[0]
    (part,) = weights_of(mismatch.cpu[0])
    chain = chain_of(mismatch.point.state, part)

    assert len(chain) == 3
    assert chain[-1] == part.id
    assert root_module_of(observations, mismatch.point, part).chain == tuple(chain)
    assert is_made_by_program(mismatch.point.state, part)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param("net = nn.Linear(4, 2)\nalias = net\nnet(x)", ["alias", "net"], id="two-names"),
        pytest.param(
            "head = nn.Linear(4, 2)\nnet = nn.Sequential(head)\nnet(x)", ["net", "head"], id="outermost-first"
        ),
        pytest.param("nn.Linear(4, 2)(x)", [], id="no-name"),
        pytest.param(
            "class Box:\n    def __init__(self, net):\n        self.net = net\n\n"
            "box = Box(nn.Linear(4, 2))\nbox.net(x)",
            ["box.net"],
            id="attribute",
        ),
    ],
)
def test_the_names_of_a_root_are_ranked(body, names):
    mismatch, (root,) = roots_in(body)

    assert root_names(mismatch.point, mismatch.point.call_stack[0], root) == names


BOX = """
class Box:
    def __init__(self):
        self.net = nn.Linear(4, 2)

    def {method}:
        self.net.to(device)

box = Box()
box.net(x)
"""


@pytest.mark.parametrize(
    ("method", "names"),
    [("to(self, device)", ["box"]), ("move(self, device)", []), ("to(self)", []), ("to(self, device, dtype)", [])],
    ids=["to", "other-name", "no-argument", "two-arguments"],
)
def test_an_object_with_a_to_method_is_a_container(method, names):
    mismatch, (root,) = roots_in(BOX.format(method=method))
    objects = [obj for _, obj in mismatch.point.state.heap_objects() if isinstance(obj, InstanceObject)]

    assert container_names(mismatch.point, mismatch.point.call_stack[0], root) == names
    assert any(has_to_method(mismatch.point.state, obj) for obj in objects) is bool(names)
