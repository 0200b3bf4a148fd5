"""States: forks are apart, and joins are the same in any order."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from devfix.analysis.domain.runtime import Runtime
from devfix.analysis.domain.state import Base, State
from devfix.analysis.domain.values import ACCELERATOR, CPU, NONE, Const, Number, Pointer, Tensor, join
from devfix.analysis.stdlib.containers import ListObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch.module_objects import ModuleObject
from devfix.analysis.transfer.opaque_objects import OpaqueObject

ENV, OBJECT, OTHER, LIST = 1, 2, 3, 4
VALUES = st.sampled_from((Const(1), Const(2), NONE, Number(), Tensor(CPU), Tensor(ACCELERATOR), Pointer(OTHER)))
NAMES = st.sampled_from(("a", "b", "c"))
WRITES = st.one_of(
    st.tuples(st.just("bind"), NAMES, VALUES),
    st.tuples(st.just("unbind"), NAMES),
    st.tuples(st.just("field"), st.sampled_from((OBJECT, OTHER, LIST)), NAMES, VALUES),
    st.tuples(st.just("item"), VALUES),
    st.tuples(st.just("devices"), st.sampled_from((CPU, ACCELERATOR))),
    st.tuples(st.just("module"), st.booleans()),
    st.tuples(st.just("assume"), NAMES, st.booleans()),
    st.tuples(st.just("save"), NAMES),
    st.tuples(st.just("default"), st.sampled_from((CPU, ACCELERATOR))),
)
PATHS = st.lists(WRITES, max_size=6)


def start() -> State:
    base = Base()
    base.heap[OTHER] = InstanceObject(fields={"a": Const(0)})
    base.envs[ENV] = {"c": Const(0)}
    state = State(base)
    state.bind(ENV, "a", Pointer(OBJECT))
    state.write(OBJECT, OpaqueObject("model"))
    state.write(LIST, ListObject())
    return state


def follow(state: State, path: list[tuple]) -> State:
    state = state.fork()
    for kind, *given_ in path:
        match kind, given_:
            case "bind", (name, value):
                state.bind(ENV, name, value)
            case "unbind", (name,):
                state.unbind(ENV, name)
            case "field", (key, name, value):
                state.set_field(Pointer(key), name, value)
            case "item", (value,):
                state.update(Pointer(LIST), default_item=value)
            case "devices", (device,):
                state.update(Pointer(OBJECT), devices=frozenset({device}))
            case "module", (frozen,):
                state.write(OBJECT, ModuleObject("model", frozen=frozen, opaque=True))
            case "assume", (name, holds):
                state.assume(name, holds)
            case "save", (name,):
                state.saved |= {name}
            case "default", (device,):
                state.set_runtime(default_device=device)
    return state


def contents(state: State | None) -> object:
    assert state is not None
    heap = {key: state.at(key) for key in (OBJECT, OTHER, LIST)}
    return state.names(ENV), heap, state.assumptions, state.saved, state.runtime


@given(PATHS, PATHS)
def test_the_order_of_paths_makes_no_difference(one, two):
    before = start()

    joined = contents(State.join([follow(before, one), follow(before, two)]))

    assert joined == contents(State.join([follow(before, two), follow(before, one)]))


@given(PATHS)
def test_a_path_joined_with_its_like_is_itself(path):
    before = start()

    assert contents(State.join([follow(before, path), follow(before, path)])) == contents(follow(before, path))


@given(PATHS, PATHS)
def test_a_join_has_what_each_path_has(one, two):
    before = start()
    paths = [follow(before, one), follow(before, two)]
    joined = State.join(paths)
    assert joined is not None

    for state in paths:
        for name, value in state.names(ENV).items():
            assert join((joined.names(ENV)[name], value)) == joined.names(ENV)[name]
        for key in (OBJECT, OTHER, LIST):
            assert state.at(key).devices <= joined.at(key).devices
            for name, value in state.at(key).fields.items():
                assert join((joined.at(key).fields[name], value)) == joined.at(key).fields[name]
        assert joined.assumptions.items() <= state.assumptions.items()
        assert joined.saved >= state.saved
        assert joined.runtime.join(state.runtime) == joined.runtime


@given(PATHS, PATHS)
def test_a_fork_changes_nothing_on_the_other_path(one, two):
    before = start()
    first = follow(before, one)
    held = contents(first)

    follow(first, two)

    assert contents(first) == held


def test_what_an_object_is_on_one_path_it_is_behind_both():
    before = start()

    found = State.join([follow(before, [("module", True)]), follow(before, [("save", "a")])])

    assert found is not None
    assert isinstance(found.at(OBJECT), ModuleObject)


def test_settings_behind_two_paths():
    one, two = Runtime(CPU, gradients=False), Runtime(ACCELERATOR, backends=frozenset({"nccl"}), current_is_zero=False)

    joined = one.join(two)

    assert not joined.default_device.known
    assert joined.gradients
    assert joined.backends == {None, "nccl"}
    assert joined.current_is_zero is None


def test_states_of_a_call_that_has_returned_are_dropped(analyse):
    """Program points keep the calls that lead to them: with their states, they would keep the memory of each path."""
    observations = analyse("""
        def add(x, flag):
            if flag:
                return x + torch.ones(3)
            return x
        add(torch.ones(3).cuda(), unknown())
    """)
    (mismatch,) = observations.mismatches
    assert all(frame.activation.returns == [] for frame in mismatch.point.call_stack)


def test_a_fork_that_writes_nothing_shares_everything() -> None:
    state = start()
    for key in range(1_000, 1_200):
        state.add_env(key)
        state.write(key + 1_000, OpaqueObject("part"))
        state.assume(f"flag {key}", True)
    tracemalloc.start()
    try:
        forks = [state.fork() for _ in range(100)]
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken / len(forks) < 1_000, "bytes; a program has thousands of points with a state"


def test_what_a_fork_and_its_origin_write_is_apart() -> None:
    state = start()
    fork = state.fork()
    second = fork.fork()
    fork.bind(ENV, "a", Const(1))
    fork.add_env(7)
    state.unbind(ENV, "a")
    state.assume("flag", True)
    second.drop_env(ENV)
    assert (state.lookup(ENV, "a"), fork.lookup(ENV, "a"), second.lookup(ENV, "a")) == (None, Const(1), None)
    assert (7 in state.envs, 7 in fork.envs, 7 in second.envs) == (False, True, False)
    assert (dict(state.assumptions), dict(fork.assumptions)) == ({"flag": True}, {})


def test_a_join_that_brings_nothing_new_shares_the_facts_of_an_object() -> None:
    state = start()
    parents = frozenset({Pointer(OTHER)})
    state.write(OBJECT, ModuleObject("net", fields={"a": Pointer(OTHER), "b": NONE}, parents=parents))
    one, two = state.fork(), state.fork()
    one.update(Pointer(OBJECT), devices=frozenset({CPU}))
    two.update(Pointer(OBJECT), devices=frozenset({ACCELERATOR}), fields={"a": Pointer(OTHER)}, parents=frozenset())
    joined = State.join([one, two])
    assert joined is not None
    found = joined.heap_object(Pointer(OBJECT))
    assert found.devices == frozenset({CPU, ACCELERATOR})
    assert found.fields is one.heap_object(Pointer(OBJECT)).fields
    assert isinstance(found, ModuleObject) and found.parents is parents


def test_a_join_counts_the_objects_that_it_compares() -> None:
    state = start()
    for key in range(10, 50):
        state.write(key, ListObject())
    before, paths = state.base.handled, [state.fork(), state.fork()]
    for path, item in zip(paths, (Tensor(CPU), Tensor(ACCELERATOR)), strict=True):
        for key in range(10, 40):
            path.update(Pointer(key), default_item=item)

    State.join(paths)

    assert state.base.handled - before == 30
