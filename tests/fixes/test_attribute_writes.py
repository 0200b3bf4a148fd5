"""Tensor attributes that stay on the CPU, their writes and their uses."""

from __future__ import annotations

import pytest
from small_programs import IMPORTS, observe

from devfix.analysis.domain.objects import Module
from devfix.fixes.modules.attribute_writes import attribute_groups, methods_of

NET = """
class Base(nn.Module):
    def helper(self):
        pass

class Net(Base):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        return {result}

{call}
"""
CALL = "net = Net().cuda()\nnet(torch.ones(4).cuda())"


def groups_in(init, result, call=CALL):
    text = IMPORTS + NET.format(init=init.replace("\n", "\n        "), result=result, call=call)
    return list(attribute_groups(observe(text)))


@pytest.mark.parametrize(
    ("init", "result", "names"),
    [
        pytest.param("self.mask = torch.ones(4)", "x + self.mask", [["mask"]], id="one"),
        pytest.param(
            "self.a = torch.ones(4)\nself.b = torch.ones(4)",
            "x + self.a + self.b",
            [["a"], ["b"]],
            id="two-operands",
        ),
        pytest.param(
            "self.a = torch.ones(4)\nself.b = torch.ones(4)", "x + (self.a + self.b)", [["a", "b"]], id="one-operand"
        ),
        pytest.param("self.a = self.b = torch.ones(4)", "x + self.b", [["b"]], id="last-attribute"),
    ],
)
def test_attributes_of_one_operand_form_a_group(init, result, names):
    assert [[attribute.name for attribute in group] for group in groups_in(init, result)] == names


@pytest.mark.parametrize(
    ("init", "result"),
    [
        pytest.param("self.register_buffer('mask', torch.ones(4))", "x + self.mask", id="buffer"),
        pytest.param("self.fc = nn.Linear(4, 4)", "self.fc(x) + torch.ones(4)", id="not-an-attribute"),
        pytest.param("self.mask = torch.ones(4)", "x", id="not-used"),
        pytest.param("self.mask = torch.ones(4)", "x + self.mask.cuda()", id="moved"),
        pytest.param("self.all = [nn.Parameter(torch.ones(4))]", "x + self.all[0]", id="parameter-in-a-list"),
    ],
)
def test_other_values_form_no_group(init, result):
    assert groups_in(init, result) == []


def test_the_attributes_of_a_plain_object_form_one_group():
    text = (
        f"{IMPORTS}class Data:\n    def __init__(self):\n        self.x = torch.ones(3)\n"
        "        self.y = torch.ones(3)\n\n"
        "data = Data()\ntorch.ones(3).cuda() + data.x\ntorch.ones(3).cuda() + data.y\n"
    )
    ((x, y),) = attribute_groups(observe(text))

    assert (x.name, y.name) == ("x", "y")
    assert not x.is_module_attribute
    assert x.moved is None


def test_an_attribute_has_its_writes_uses_and_owners():
    ((mask,),) = groups_in("self.mask = torch.ones(4)", "x + self.mask")
    (use,) = mask.uses

    assert (mask.text, mask.point.span.line, mask.cls.node.name) == ("self.mask", 13, "Net")
    assert (use.operand.text, use.mismatch.point.span.line) == ("self.mask", 16)
    assert [isinstance(obj, Module) for obj in mask.owners] == [True]
    assert mask.is_module_attribute
    assert mask.moved.span.line == 18


@pytest.mark.parametrize(
    ("init", "is_alias"),
    [
        ("self.register_buffer('a', torch.ones(4))\nself.mask = self.a", True),
        ("self.register_buffer('a', torch.ones(4))\nself.mask = self.a + 1", False),
        ("self.mask = torch.ones(4)", False),
    ],
    ids=["buffer", "computed", "new-tensor"],
)
def test_an_attribute_is_an_alias_if_it_only_reads_a_buffer(init, is_alias):
    ((attribute,),) = groups_in(init, "x + self.mask")

    assert attribute.is_alias is is_alias


HELD = """\
class Held:
    def __init__(self, weight):
        self.weight = weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.held = Held({given})

    def forward(self, x):
        return x @ self.held.weight


Net().cuda()(torch.ones(4).cuda())
"""


@pytest.mark.parametrize(
    ("given", "number"), [("self.linear.weight", 0), ("torch.ones(4, 4)", 1)], ids=["parameter", "new-tensor"]
)
def test_a_parameter_follows_its_module_wherever_it_is_kept(given, number):
    observations = observe(IMPORTS + HELD.format(given=given))

    assert len(list(attribute_groups(observations))) == number


def test_the_methods_of_a_class_include_those_of_its_bases():
    ((attribute,),) = groups_in("self.mask = torch.ones(4)", "x + self.mask")

    names = [(cls.name, method.name) for _, cls, method in methods_of(attribute.cls)]

    assert names == [("Net", "__init__"), ("Net", "forward"), ("Base", "helper")]
