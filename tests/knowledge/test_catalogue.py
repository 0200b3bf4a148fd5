"""The public functions of PyTorch, each with its examples."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from torch.utils._device import _device_constructors  # noqa: E402

from benchmarks.knowledge.catalogue import GROUPS, candidates  # noqa: E402
from benchmarks.knowledge.examples import Example  # noqa: E402
from benchmarks.knowledge.factories import factory_examples  # noqa: E402
from benchmarks.knowledge.handwritten import HANDWRITTEN, handwritten  # noqa: E402
from benchmarks.knowledge.layers import GROUP, layer_examples  # noqa: E402
from benchmarks.knowledge.machine import confirmed  # noqa: E402
from benchmarks.knowledge.outputs import output_examples  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

#: Factories without an example, and the reason.
LEFT_OUT = {
    "empty_quantized": "quantized tensors do not meet others",
    "nested_tensor": "nested tensors meet nested tensors only",
    "range": "is deprecated, and the simulator does not see it",
    "scalar_tensor": "a number may be on the CPU",
    "sparse_bsc_tensor": "has no operation with a dense tensor on the CPU",
}


def test_names_are_unique_within_the_groups() -> None:
    names = [(group, name) for group, name, _ in candidates()]
    assert len(set(names)) == len(names)
    assert {group for group, _ in names} == set(GROUPS)


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (("torch", "torch.where"), "result = torch.where(condition, x, y)"),
        (("torch.linalg", "torch.linalg.solve"), "result = torch.linalg.solve(first, second)"),
        (("Tensor methods", "Tensor.multiply"), "result = first.multiply(second)"),
        (("in-place methods", "Tensor.add_"), "first.add_(second)"),
        (("operators", "//"), "result = first // second"),
        (("operators", "[]="), "x[index] = values"),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_the_spelling_of_a_function(wanted: tuple[str, str], line: str) -> None:
    (found,) = (list(examples) for *key, examples in candidates() if tuple(key) == wanted)
    assert line in [example.statement for example in found]


def test_every_handwritten_example_is_confirmed() -> None:
    forms = [
        Example("torch", name, (), "", ("from torch import nn",) if name.startswith("nn.") else ())
        for name in HANDWRITTEN
    ]
    found = confirmed(handwritten(form) for form in forms)
    assert [each.example.name for each in found] == list(HANDWRITTEN)


def test_every_factory_of_pytorch_has_an_example_that_is_confirmed() -> None:
    found = list(confirmed(examples for _, _, examples in factory_examples()))
    made = {each.example.name.rpartition(".")[2] for each in found}
    known = {function.__name__.removeprefix("fft_") for function in _device_constructors()}
    assert known - made == set(LEFT_OUT)


def test_the_weights_of_a_module_are_an_operand() -> None:
    found = {name: examples for group, name, examples in layer_examples() if group == GROUP}
    linear, loss = (next(iter(found[name])) for name in ("nn.Linear", "nn.MSELoss"))
    assert [operand.name for operand in linear.operands] == ["module", "first"]
    assert [operand.name for operand in loss.operands] == ["first", "second"]
    assert loss.setup == ("module = nn.MSELoss()",)


def test_an_output_is_an_operand_like_the_result() -> None:
    example = next(iter(output_examples("torch.sin", "sin")))
    assert example.statement == "torch.sin(first, out=out)"
    assert example.operands[1].cpu.startswith("torch.empty(")
    assert example.broken == (frozenset({1}),)


def test_several_outputs_are_a_tuple() -> None:
    statements = [example.statement for example in output_examples("torch.linalg.qr", "linalg.qr")]
    assert any(statement.endswith("out=(out_0, out_1))") for statement in statements)


def test_a_function_without_out_has_no_such_example() -> None:
    assert list(output_examples("torch.unique", "unique")) == []
