"""What passes while a program is interpreted: one observation per operation, with what it says."""

from __future__ import annotations

import pytest

from devfix import analysis
from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.analysis.observations import Subscription, execution
from devfix.syntax.tree import text_of

PATH = "/p/train.py"
SETUP = "import torch\nfrom torch import nn\n\nx = torch.ones(3)\nnet = nn.Linear(3, 2)\n"


@pytest.fixture
def observed():
    """What a program shows of a type of observation: the result of ``describe`` for each."""

    def call(text, kind, describe):
        found = []

        def note(interp, observation):
            found.append(describe(observation))

        files = {PATH: f"{SETUP}{text}\n"}
        assert analysis.analyse(PATH, files.get, "/p", subscriptions=[Subscription(kind, note)]) is not None
        return found

    return call


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net.weight", ["net.weight"]),
        ("net.cuda", ["net.cuda"]),
        ("net.cuda()", []),
        ("net.weight.data.cuda()", ["net.weight", "net.weight.data"]),
    ],
)
def test_an_attribute_is_read_but_a_called_method_is_not(observed, text, expected):
    seen = observed(text, execution.AttributeRead, lambda read: text_of(read.node))

    assert [name for name in seen if name.startswith("net")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("net.y = x", ["y"], id="module"),
        pytest.param("class A:\n    pass\na = A()\na.y = x", ["y"], id="instance"),
        pytest.param("net.add_module('inner', nn.Linear(1, 1))", ["inner"], id="add-module"),
        pytest.param("net.register_buffer('mask', x)", [], id="buffer"),
        pytest.param("y = x", [], id="name"),
    ],
)
def test_an_attribute_is_stored(observed, text, expected):
    assert observed(text, execution.AttributeStored, lambda stored: stored.name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.cuda()", [(CPU, ACCELERATOR)]),
        ("x.to('cuda')", [(CPU, ACCELERATOR)]),
        ("x.cpu()", [(CPU, CPU)]),
        ("x.cuda().cpu()", [(CPU, ACCELERATOR), (ACCELERATOR, CPU)]),
        ("x.float()", []),
        ("x.to(torch.float64)", []),
        ("net.cuda()", []),
    ],
)
def test_a_tensor_is_moved(observed, text, expected):
    assert observed(text, execution.TensorMoved, lambda moved: (moved.tensor.device, moved.device)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("net.cuda()", [(ACCELERATOR,)]), ("net.cpu()", [(CPU,)]), ("x.cuda()", [])]
)
def test_a_module_is_moved(observed, text, expected):
    assert observed(text, execution.ModuleMoved, lambda moved: moved.devices) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        pytest.param("x.cuda()\ny = x.cuda()", execution.ExpressionStatement, ["x.cuda()"], id="expression-statement"),
        pytest.param("for i in x:\n    break", execution.LoopLeft, ["for i in x:\n    break"], id="loop"),
        pytest.param("while x:\n    break", execution.LoopLeft, [], id="while"),
    ],
)
def test_statements_pass_once(observed, text, kind, expected):
    assert observed(text, kind, lambda observation: text_of(observation.stmt)) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        pytest.param("nn.DataParallel(net)", execution.ModuleWrapped, ["nn.DataParallel(net)"], id="wrapped"),
        pytest.param("torch.save(x, 'a')", execution.CheckpointSaved, ["torch.save(x, 'a')"], id="saved"),
        pytest.param(
            "torch.optim.SGD([x])", execution.OptimizerBuilt, ["torch.optim.SGD([x])"], id="optimizer-of-a-list"
        ),
        pytest.param("torch.randn(3)", execution.NumbersDrawn, [], id="default-generator"),
        pytest.param(
            "torch.randn(3, generator=torch.Generator())",
            execution.NumbersDrawn,
            ["torch.randn(3, generator=torch.Generator())"],
            id="generator",
        ),
    ],
)
def test_calls_of_pytorch_pass(observed, text, kind, expected):
    assert observed(text, kind, lambda observation: text_of(observation.node)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("items = []\nitems.append(x)", ["x"], id="append"),
        pytest.param("items = [x.cuda() for _ in (1, 2)]", ["x.cuda()", "x.cuda()"], id="comprehension"),
        pytest.param("items = [x]", [], id="display"),
        pytest.param("items = []\nitems.extend([x])", [], id="extend"),
    ],
)
def test_items_are_added_to_lists(observed, text, expected):
    assert observed(text, execution.ItemAdded, lambda added: text_of(added.expression)) == expected


def test_operands_are_compared(observed):
    text = "torch.add(x, x)\ntorch.zeros(3)"
    ((operation, operands),) = observed(text, execution.OperandsCompared, lambda each: (each.operation, each.operands))

    assert (operation, [operand.text for operand in operands]) == ("add", ["x", "x"])


def test_an_object_escapes_to_code_that_cannot_be_read(observed):
    seen = observed("import lib\nlib.prepare(net)", execution.Escaped, lambda escaped: escaped.value)

    assert len(seen) == 1
