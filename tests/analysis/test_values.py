"""Joins of values: the same in any order, never smaller than what goes in, widened kind by kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    MOST_OBJECTS,
    NONE,
    OTHER_ACCELERATOR,
    UNKNOWN,
    UNKNOWN_DEVICE,
    WIDENING_LIMIT,
    Builtin,
    Const,
    DeviceValue,
    External,
    Number,
    Origin,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    _widened,
    alternatives,
    join,
)

DEVICES = st.sampled_from((CPU, ACCELERATOR, OTHER_ACCELERATOR, UNKNOWN_DEVICE))
ORIGINS = st.builds(Origin, st.sampled_from(("made", "batch")), st.integers(0, 3), st.sampled_from(((), ("x",))))
TENSORS = st.builds(
    Tensor,
    DEVICES,
    st.lists(ORIGINS, max_size=3).map(tuple),
    is_certain=st.booleans(),
    maybe_zero_dim=st.booleans(),
    grad=st.booleans(),
)
PLAIN = st.one_of(
    st.integers(0, 9).map(Const),
    st.floats(allow_nan=False).map(Const),
    st.sampled_from(("cpu", "cuda", "a", "b")).map(Const),
    st.sampled_from((NONE, Const(True), Const(False), UNKNOWN, Unknown("args.x"), Number(), Number("rank"), Text())),
    st.integers(1, 9).map(Pointer),
    st.integers(1, 9).map(lambda number: External(f"f{number}")),
    st.builds(DeviceValue, DEVICES, st.booleans()),
    TENSORS,
)
ATOMS = st.one_of(PLAIN, st.lists(PLAIN, max_size=2).map(lambda items: TupleValue(tuple(items))))
VALUES = st.lists(ATOMS, min_size=1, max_size=10).map(join)


def includes(one: Value, two: Value) -> bool:
    """Whether everything that ``two`` stands for is among what ``one`` stands for."""
    return all(any(_stands_for(known, option) for known in alternatives(one)) for option in alternatives(two))


def _stands_for(one: Value, two: Value) -> bool:
    if one in (UNKNOWN, two):
        return True
    constant = two.value if isinstance(two, Const) else None
    if one == Number():
        return isinstance(two, Number) or (isinstance(constant, (int, float)) and not isinstance(constant, bool))
    if one == Text():
        return isinstance(two, Text) or isinstance(constant, str)
    return (
        isinstance(one, Tensor)
        and isinstance(two, Tensor)
        and one.device == two.device
        and one.is_certain <= two.is_certain
        and one.maybe_zero_dim >= two.maybe_zero_dim
        and one.grad >= two.grad
    )


@given(VALUES, VALUES)
def test_the_order_of_paths_makes_no_difference(one, two):
    assert join((one, two)) == join((two, one))
    assert hash(join((one, two))) == hash(join((two, one)))


@given(VALUES)
def test_a_value_joined_with_itself_is_itself(value):
    assert join((value, value)) == value


@given(VALUES, VALUES)
def test_a_join_includes_both_values(one, two):
    assert includes(join((one, two)), one)
    assert includes(join((one, two)), two)


@given(st.sets(ATOMS, max_size=8), st.sets(ATOMS, max_size=8), VALUES)
def test_more_on_one_path_is_no_less_behind_it(some, more, other):
    few, many = (join((join(some), other)) if some else other), join((join({*some, *more}), other))
    # strings of one path may be widened before a number comes, and of the other one with it
    assert includes(many, few) or includes(Union(tuple(_widened(alternatives(many)))), few)


@given(VALUES, VALUES, VALUES)
def test_paths_join_in_any_grouping_up_to_widening(one, two, three):
    left, right = join((join((one, two)), three)), join((one, join((two, three))))

    assert all(includes(joined, value) for joined in (left, right) for value in (one, two, three))
    if len({option for value in (one, two, three) for option in alternatives(value)}) <= WIDENING_LIMIT:
        assert left == right


@given(st.lists(VALUES, max_size=12))
def test_a_join_of_many_values_stays_small(values):
    tensors, objects, others, plain = 4, MOST_OBJECTS, WIDENING_LIMIT, 5

    assert len(alternatives(join(values))) <= tensors + objects + others + plain


NUMBERS = [Const(number) for number in range(7)]


@pytest.mark.parametrize(
    ("values", "joined"),
    [
        pytest.param(NUMBERS, [Number()], id="numbers"),
        pytest.param([Const(letter) for letter in "abcdefg"], [Text()], id="strings"),
        pytest.param([*NUMBERS, Tensor(CPU)], [Number(), Tensor(CPU)], id="a-tensor-among-numbers"),
        pytest.param([*NUMBERS, NONE, Const(True)], [Number(), NONE, Const(True)], id="none-and-true-stay"),
        pytest.param([Pointer(number) for number in range(MOST_OBJECTS + 1)], [UNKNOWN], id="objects"),
        pytest.param(
            [*(Pointer(n) for n in range(MOST_OBJECTS + 1)), Tensor(CPU)],
            [UNKNOWN, Tensor(CPU)],
            id="a-tensor-among-objects",
        ),
        pytest.param(
            [*(Pointer(n) for n in range(MOST_OBJECTS)), *NUMBERS],
            [*(Pointer(n) for n in range(MOST_OBJECTS)), Number()],
            id="objects-of-several-paths-stay",
        ),
        pytest.param(
            [Builtin(Pointer(n), "to") for n in range(MOST_OBJECTS)],
            [Builtin(Pointer(n), "to") for n in range(MOST_OBJECTS)],
            id="methods-of-as-many-objects-stay",
        ),
        pytest.param(
            [Parameters(Pointer(n)) for n in range(MOST_OBJECTS)],
            [Parameters(Pointer(n)) for n in range(MOST_OBJECTS)],
            id="parameters-of-as-many-modules-stay",
        ),
        pytest.param(
            [*NUMBERS, Tensor(CPU), Tensor(CPU, grad=True), Tensor(ACCELERATOR, is_certain=False)],
            [Number(), Tensor(CPU, grad=True), Tensor(ACCELERATOR, is_certain=False)],
            id="one-tensor-per-device",
        ),
        pytest.param(
            [Tensor(CPU, (Origin("made", number),)) for number in range(7)],
            [Tensor(CPU, tuple(Origin("made", number) for number in range(4)))],
            id="some-origins-of-many",
        ),
    ],
)
def test_each_kind_of_many_alternatives_is_widened(values, joined):
    assert set(alternatives(join(values))) == set(joined)
    assert set(alternatives(join(reversed(values)))) == set(joined)


def test_few_alternatives_stay_as_they_are():
    values = [Const(1), Const(2), Tensor(CPU), Tensor(CPU, maybe_zero_dim=True), UNKNOWN, NONE]

    assert alternatives(join(values)) == tuple(values)


def test_a_tensor_among_many_numbers_is_seen(met):
    branches = "".join(f"elif f({number}):\n    y = {number}\n" for number in range(8))

    assert met(f"if f():\n    y = torch.ones(3)\n{branches}torch.ones(3).cuda() + y") == ["torch.ones(3).cuda() + y"]


def test_a_tensor_that_may_require_grad_is_one_alternative():
    plain, trained = Tensor(CPU), Tensor(CPU, grad=True)
    assert join((plain, trained, Tensor(ACCELERATOR))) == join((trained, Tensor(ACCELERATOR)))
