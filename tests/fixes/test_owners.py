"""What holds a module: other modules, and Python containers in their attributes."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, observe, parts_in

from devfix.analysis.domain.objects import Module
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.fixes.modules.owners import is_in_container, owners_of, parents_of, within_containers
from devfix.fixes.modules.structural_changes import weights_of

NESTED = f"{IMPORTS}net = nn.Sequential(nn.Linear(4, 2))\nouter = nn.Sequential(net)\nouter(torch.ones(3, 4).cuda())\n"


@pytest.mark.parametrize(
    ("parts", "result", "is_tuple"),
    [
        ("[nn.Linear(4, 2)]", "self.parts[0](x)", False),
        ("(nn.Linear(4, 2),)", "self.parts[0](x)", True),
        ("{'a': nn.Linear(4, 2)}", "self.parts['a'](x)", False),
        ("[[nn.Linear(4, 2)]]", "self.parts[0][0](x)", False),
        ("[nn.Sequential(nn.Linear(4, 2))]", "self.parts[0](x)", False),
    ],
    ids=["list", "tuple", "dictionary", "nested", "inside-a-module"],
)
def test_the_attribute_that_holds_a_module_is_found(parts, result, is_tuple):
    mismatch, state, value, _ = parts_in(parts, result)
    (part,) = weights_of(mismatch.cpu[0])
    (attribute,) = within_containers(state, part)

    assert (attribute.name, attribute.container, attribute.is_tuple) == ("parts", value, is_tuple)
    assert is_in_container(state, part.id)


def test_a_registered_module_is_in_no_container():
    mismatch, state, _, _ = parts_in("nn.Linear(4, 2).to('cpu')", "self.parts.to('cpu')(x)")
    (part,) = weights_of(mismatch.cpu[0])

    assert list(within_containers(state, part)) == []
    assert not is_in_container(state, part.id)


def test_a_module_that_is_also_registered_is_in_no_container():
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 2)
        self.blocks = [self.first]
        self.others = [nn.Linear(4, 2)]

    def forward(self, x):
        return self.others[0](self.first(x))

net = Net()
net(torch.ones(3, 4).cuda())
"""
    first, second = observe(IMPORTS + text).mismatches
    state = first.point.state

    assert list(within_containers(state, first.cpu[0].module)) == []
    assert [each.name for each in within_containers(state, second.cpu[0].module)] == ["others"]


def test_the_parents_of_a_module_hold_it():
    mismatch = observe(NESTED).mismatches[0]
    (part,) = weights_of(mismatch.cpu[0])
    state = mismatch.point.state
    (inner,) = parents_of(state, part.id)
    (outer,) = parents_of(state, inner)

    assert parents_of(state, outer) == []
    assert len({part.id, inner, outer}) == 3


def test_an_instance_that_holds_a_module_is_no_parent():
    text = "class Agent:\n    def __init__(self):\n        self.net = nn.Linear(4, 2)\n\n"
    mismatch = observe(f"{IMPORTS}{text}agent = Agent()\nagent.net(torch.ones(3, 4).cuda())\n").mismatches[0]
    (part,) = weights_of(mismatch.cpu[0])
    state = mismatch.point.state

    assert parents_of(state, part.id) == owners_of(state, part.id, Module) == []
    assert len(owners_of(state, part.id, InstanceObject)) == 1
