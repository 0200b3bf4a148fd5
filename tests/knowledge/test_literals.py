"""Values as Python source: what is written evaluates to the same value, or to a tensor like it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from benchmarks.knowledge.literals import Unwritable, literal, sequence, tensor_expressions  # noqa: E402  # needs torch


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 0.25, 1j, "sum", (1,), (1, 2), [1, [2]], {"a": 1}, slice(1, None), torch.int64, torch.strided, ...],
    ids=str,
)
def test_a_literal_evaluates_to_the_value(value) -> None:
    assert eval(literal(value), {"torch": torch}) == value


def test_a_shape_is_a_tuple_and_infinity_has_a_literal() -> None:
    assert literal(torch.Size([2, 3])) == "(2, 3)"
    assert eval(literal(float("-inf"))) == float("-inf")
    assert sequence(["x"], is_list=False) == "(x,)"


@pytest.mark.parametrize("value", [object(), len, torch.Generator(), {1: 2}], ids=["object", "function", "rng", "dict"])
def test_other_values_have_no_literal(value) -> None:
    with pytest.raises(Unwritable):
        literal(value)


TENSORS = [
    torch.rand(2, 3),
    torch.rand(4, dtype=torch.float64),
    torch.rand(2, dtype=torch.complex64),
    torch.tensor([3, 0, 5]),
    torch.tensor([[-2, 4]], dtype=torch.int32),
    torch.tensor([True, False]),
    torch.tensor(0.5),
    torch.empty(0, 3),
    torch.eye(2).to_sparse(),
]


@pytest.mark.parametrize("tensor", TENSORS, ids=lambda tensor: f"{tensor.dtype}-{tuple(tensor.shape)}")
def test_each_expression_makes_a_tensor_like_the_original(tensor) -> None:
    made = [eval(text, {"torch": torch}) for text in tensor_expressions(tensor)]
    assert made
    assert {(each.dtype, each.shape, each.layout) for each in made} == {(tensor.dtype, tensor.shape, tensor.layout)}


def test_the_last_expression_repeats_the_values() -> None:
    *_, exact = tensor_expressions(torch.tensor([[1, 2], [3, 4]]))
    assert exact == "torch.tensor([[1, 2], [3, 4]])"


def test_random_integers_stay_in_the_range_of_the_original() -> None:
    first, *_ = tensor_expressions(torch.tensor([0, 4]))
    assert first == "torch.randint(5, (2,))"
