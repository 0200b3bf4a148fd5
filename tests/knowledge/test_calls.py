"""Sample calls as source, and the spellings of one call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from benchmarks.knowledge.calls import Call, Writer, examples, function, method, operator, written  # noqa: E402
from benchmarks.knowledge.examples import Example, moved  # noqa: E402

CALL = Call((moved("first", "torch.rand(3)"), moved("second", "torch.rand(3)")), ("first", "second"), {})


def _sample(source: Any, *args: Any, **kwargs: Any) -> SimpleNamespace:
    return SimpleNamespace(input=source, args=args, kwargs=kwargs)


def test_tensors_become_operands_and_keywords_name_them() -> None:
    call, *_ = written(_sample(torch.rand(2), 1, weight=torch.rand(3), reduction="sum", bias=None))
    assert call.arguments == 'first, 1, weight=weight, reduction="sum"'
    assert [operand.cpu for operand in call.operands] == ["torch.rand(2)", "torch.rand(3)"]


def test_a_list_of_tensors_is_passed_whole_and_in_parts() -> None:
    forms = [call.args for call in written(_sample([torch.rand(2), torch.rand(3)], 0))]
    assert list(dict.fromkeys(forms)) == [
        ("[first, second]", "0"),
        ("first", "second", "0"),
        ("0", "first", "second"),
    ]


def test_integers_are_written_at_random_then_as_they_are() -> None:
    indices = [call.operands[1].cpu for call in written(_sample(torch.rand(2), torch.tensor([0, 2])))]
    assert indices == ["torch.randint(3, (2,))", "torch.tensor([0, 2])", "torch.tensor([0, 2])"]


def test_a_call_with_an_unwritable_argument_is_left_out() -> None:
    assert list(written(_sample(torch.rand(2), len))) == []


def test_a_name_that_the_program_uses_is_no_operand() -> None:
    assert Writer().call((), {"out": torch.rand(2)}).kwargs == {"out": "first"}


@pytest.mark.parametrize(
    ("spelling", "statement"),
    [
        (function("torch.mm"), "result = torch.mm(first, second)"),
        (method("mm"), "result = first.mm(second)"),
        (method("add_"), "first.add_(second)"),
        (operator("result = {} + {}"), "result = first + second"),
        (operator("{} += {}"), "first += second"),
    ],
    ids=["function", "method", "in-place", "operator", "in-place-operator"],
)
def test_a_call_is_spelled_in_each_way(spelling, statement: str) -> None:
    assert spelling(CALL) == statement


def test_an_index_in_a_tuple_is_an_operand_of_the_operator() -> None:
    assert operator("result = {}[{}]")(CALL._replace(args=("first", "(second,)"))) == "result = first[second]"


@pytest.mark.parametrize(
    "call",
    [CALL._replace(args=("[first, second]",)), CALL._replace(args=("first", "second", "2")), CALL._replace(args=())],
    ids=["a list", "a number", "no arguments"],
)
def test_an_operator_takes_two_operands_only(call: Call) -> None:
    assert operator("result = {} + {}")(call) is None


def test_a_method_needs_a_tensor_as_its_first_argument() -> None:
    assert method("cat")(CALL._replace(args=("[first, second]",))) is None


def test_examples_of_a_function_come_from_its_samples() -> None:
    pytest.importorskip("expecttest")
    found = list(examples(Example("torch", "torch.mm", (), ""), "mm", function("torch.mm")))
    assert found[0].statement == "result = torch.mm(first, second)"
    assert all(len(example.operands) == 2 for example in found)
