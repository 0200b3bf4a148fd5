"""Stability of loops: which states bring nothing new, and what widening makes of those that do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.stability import brings_nothing_new, widen
from devfix.analysis.domain.state import Base, State
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    Const,
    IterableOf,
    Number,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    join,
)
from devfix.analysis.stdlib.containers import DictObject, ListObject
from devfix.analysis.torch.module_objects import ModuleObject

ENV, OLD, START = 1, 2, 10  # identifiers above START belong to objects that the loop has made
FIRST, SECOND, OTHER = Pointer(11), Pointer(12), Pointer(13)
ON_CPU, ON_GPU = frozenset({CPU}), frozenset({ACCELERATOR})


def head(value: Value, *objects: HeapObject) -> State:
    """Return a state at the head of a loop: ``y`` is bound, and the loop has made ``objects``."""
    state = State(Base())
    state.write(OLD, ModuleObject(devices=ON_CPU))
    state.bind(ENV, "y", value)
    for number, obj in enumerate(objects, FIRST.id):
        state.write(number, obj)
    return state


def is_stable(before: State, change: Callable[[State], None], overwritten: str = "") -> bool:
    after = before.fork()
    change(after)
    return brings_nothing_new(after, before, START, {ENV: overwritten.split()})


def rebound(value: Value, obj: HeapObject | None = None) -> Callable[[State], None]:
    """Return a round of a loop that binds ``y`` anew, to a new object if there is one."""

    def change(state: State) -> None:
        if obj is not None:
            state.write(SECOND.id, obj)
        state.bind(ENV, "y", value)

    return change


def test_a_pair_of_objects_is_refuted_once():
    """Each list holds one of two of the next level, and the last ones differ: without memory, 2 to the power of 40."""
    levels = 40

    def lists(first: int, last: Value) -> dict[int, ListObject]:
        pairs = {first + 2 * level: (first + 2 * level + 2, first + 2 * level + 3) for level in range(levels)}
        both = {key: ListObject(default_item=join(map(Pointer, inner))) for key, inner in pairs.items()}
        found = {each: both[key] for key in both for each in (key, key + 1)}
        return {**found, **dict.fromkeys((first + 2 * levels, first + 2 * levels + 1), ListObject(default_item=last))}

    state = head(Pointer(100))
    for number, obj in {**lists(100, Const(1)), **lists(300, Const(2))}.items():
        state.write(number, obj)

    assert not is_stable(state, rebound(Pointer(300)))


@pytest.mark.parametrize(
    ("before", "after", "stable"),
    [
        pytest.param(Const(1), Const(1), True, id="same"),
        pytest.param(Const(1), Const(2), False, id="another"),
        pytest.param(join((NONE, Const(1))), NONE, True, id="one-of-two"),
        pytest.param(NONE, join((NONE, Const(1))), False, id="one-more"),
        pytest.param(Tensor(CPU), Tensor(ACCELERATOR), False, id="device"),
        pytest.param(Unknown("f#11.x"), Unknown("f#12.x"), True, id="unknown-of-each-round"),
        pytest.param(
            Tensor(CPU, (Origin("parameter", 11),)), Tensor(CPU, (Origin("parameter", 12),)), True, id="own-parameter"
        ),
        pytest.param(
            Tensor(CPU, (Origin("parameter", 2),)), Tensor(CPU, (Origin("parameter", 12),)), False, id="new-parameter"
        ),
        pytest.param(
            Tensor(CPU, (Origin("made", 11),)), Tensor(CPU, (Origin("made", 12),)), False, id="made-elsewhere"
        ),
    ],
)
def test_a_value_is_known_if_the_earlier_state_has_it(before, after, stable):
    assert is_stable(head(before), rebound(after)) is stable


@pytest.mark.parametrize(
    ("before", "after", "stable"),
    [
        pytest.param(ListObject(fields={"0": NONE}), ListObject(fields={"0": NONE}), True, id="like-it"),
        pytest.param(ListObject(fields={"0": NONE}), ListObject(fields={"0": Const(1)}), False, id="item"),
        pytest.param(ListObject(), DictObject(), False, id="kind"),
        pytest.param(ModuleObject(devices=ON_CPU | ON_GPU), ModuleObject(devices=ON_GPU), True, id="one-device-of-two"),
        pytest.param(ModuleObject(devices=ON_CPU), ModuleObject(devices=ON_GPU), False, id="other-device"),
        pytest.param(ModuleObject(frozen=True), ModuleObject(), True, id="fact-of-one-path"),
        pytest.param(ModuleObject(), ModuleObject(frozen=True), False, id="new-fact"),
        pytest.param(ModuleObject("a"), ModuleObject("b"), False, id="name"),
        pytest.param(ListObject(default_item=FIRST), ListObject(default_item=SECOND), True, id="holds-itself"),
        pytest.param(
            ModuleObject(parents=frozenset({FIRST})), ModuleObject(parents=frozenset({SECOND})), True, id="own-parent"
        ),
        pytest.param(
            ModuleObject(parents=frozenset({Pointer(OLD)})),
            ModuleObject(parents=frozenset({SECOND})),
            False,
            id="other-parent",
        ),
        pytest.param(ListObject(default_item=Pointer(OLD)), ListObject(default_item=SECOND), False, id="holds-another"),
    ],
)
def test_an_object_of_each_round_is_known_if_it_is_like_an_earlier_one(before, after, stable):
    assert is_stable(head(FIRST, before), rebound(SECOND, after)) is stable


def test_an_object_from_before_the_loop_is_compared_with_itself():
    before = head(NONE)

    assert is_stable(before, lambda state: state.update(Pointer(OLD), devices=ON_CPU))
    assert not is_stable(before, lambda state: state.update(Pointer(OLD), devices=ON_GPU))


def test_two_names_of_one_object_are_not_names_of_two_objects():
    before = head(FIRST, ListObject())
    before.bind(ENV, "z", FIRST)

    def change(state: State) -> None:
        rebound(SECOND, ListObject())(state)
        state.write(OTHER.id, ListObject(fields={"0": NONE}))
        state.bind(ENV, "z", OTHER)

    assert not is_stable(before, change)


def test_a_name_that_the_next_round_overwrites_makes_no_difference():
    assert is_stable(head(NONE), rebound(Const(1)), overwritten="y")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda state: state.set_runtime(default_device=ACCELERATOR), id="default-device"),
        pytest.param(lambda state: setattr(state, "saved", frozenset({"net.pt"})), id="saved-file"),
        pytest.param(lambda state: setattr(state, "assumptions", {}), id="assumption"),
    ],
)
def test_the_rest_of_a_state_counts(change):
    before = head(NONE)
    before.assume("flag", True)

    assert not is_stable(before, change)


@pytest.mark.parametrize(
    ("known", "new", "widened"),
    [
        pytest.param(NONE, Const(1), join((NONE, Const(1))), id="constants"),
        pytest.param(Const(0), Number(), join((Const(0), Number())), id="numbers"),
        pytest.param(TupleValue(()), TupleValue((NONE, Const(1))), IterableOf(join((NONE, Const(1)))), id="tuple"),
    ],
)
def test_a_name_that_changes_is_widened(known, new, widened):
    before = head(known)
    after = before.fork()
    after.bind(ENV, "y", new)

    widen(after, before, START)

    assert after.lookup(ENV, "y") == widened


def test_a_list_that_grows_has_any_number_of_items():
    before = head(FIRST, ListObject(fields={"0": NONE}))
    after = before.fork()
    rebound(SECOND, ListObject(fields={"0": NONE, "1": Tensor(CPU)}))(after)

    widen(after, before, START)

    assert after.at(SECOND.id) == ListObject(default_item=join((NONE, Tensor(CPU))))


def test_a_list_that_holds_itself_is_widened_once():
    before = head(FIRST, ListObject())
    after = before.fork()
    after.write(FIRST.id, ListObject(fields={"0": FIRST, "1": Const(1)}))

    widen(after, before, START)

    assert after.at(FIRST.id).default_item == join((FIRST, Const(1)))


def test_a_field_that_changes_is_widened():
    before = head(NONE)
    before.set_field(Pointer(OLD), "x", Const(1))
    after = before.fork()
    after.set_field(Pointer(OLD), "x", Const(2))

    widen(after, before, START)

    assert after.at(OLD).fields["x"] == join((Const(1), Const(2)))
