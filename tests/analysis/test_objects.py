"""Heap objects: what they answer if nothing is known about them, and what holds for them behind a branch."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.analysis.domain.objects import HeapObject, Module, join_objects, module_at, object_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Builtin,
    Const,
    Pointer,
    Tensor,
    Value,
)
from devfix.analysis.overlays.lightning import TrainerObject
from devfix.analysis.stdlib.containers import DictObject, ListObject, SetObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.analysis.torch.data import DatasetObject, LoaderObject
from devfix.analysis.torch.module_objects import ModuleObject
from devfix.analysis.torch.optimizers import OptimizerObject
from devfix.analysis.torch.rng import GeneratorObject
from devfix.analysis.transfer.opaque_objects import OpaqueObject

ON_CPU, ON_GPU = frozenset({CPU}), frozenset({ACCELERATOR})
POINTER = Pointer(1)


def point(time: int) -> SimpleNamespace:
    return SimpleNamespace(time=time)


PAIRS = [
    pytest.param(ModuleObject("a", devices=ON_CPU), ModuleObject("a", devices=ON_GPU), id="devices"),
    pytest.param(ModuleObject(last_moved_at=point(3)), ModuleObject(last_moved_at=point(7)), id="moves"),
    pytest.param(ModuleObject(frozen=True), ModuleObject(buffers=frozenset({"mask"})), id="module"),
    pytest.param(
        ModuleObject(parents=frozenset({Pointer(2)})), ModuleObject(parents=frozenset({Pointer(3)})), id="parents"
    ),
    pytest.param(ListObject(fields={"0": Const(1)}), ListObject(fields={"0": Const(2), "1": Tensor(CPU)}), id="items"),
    pytest.param(ListObject(default_item=Tensor(CPU)), ListObject(default_item=Tensor(ACCELERATOR)), id="rest"),
    pytest.param(DictObject(odd_keys=True), DictObject(holder=3), id="dictionary"),
    pytest.param(BatchObject(position=(1, ("x",))), BatchObject(position=(2, ("x",))), id="positions"),
    pytest.param(LoaderObject(pinned=True), LoaderObject(pinned=False), id="pinned"),
    pytest.param(LoaderObject(batch_device=CPU), LoaderObject(batch_device=ACCELERATOR), id="batches"),
    pytest.param(
        OptimizerObject(module_ids=frozenset({1}), moved_late=point(1)),
        OptimizerObject(module_ids=frozenset({2}), eager=True),
        id="optimizer",
    ),
    pytest.param(OpaqueObject("x", constructed=True), ModuleObject("x", devices=ON_GPU), id="opaque-module"),
    pytest.param(InstanceObject("Data"), LoaderObject("Data"), id="two-kinds"),
    pytest.param(ListObject(), SetObject(), id="list-set"),
]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_join_does_not_depend_on_the_order_of_the_paths(one, two):
    assert join_objects(one, two) == join_objects(two, one)


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_join_with_itself_changes_nothing_and_a_second_join_neither(one, two):
    joined = join_objects(one, two)

    assert join_objects(one, one) == one
    assert join_objects(joined, joined) == joined
    assert join_objects(joined, two) == joined


VALUES = st.sampled_from((Const(1), Const(2), Tensor(CPU), Tensor(ACCELERATOR), Pointer(7)))
PLAIN = {
    "name": st.sampled_from(("a", "b")),
    "fields": st.dictionaries(st.sampled_from("xyz"), VALUES),
    "devices": st.frozensets(st.sampled_from((CPU, ACCELERATOR))),
    "last_moved_at": st.sampled_from((None, point(3), point(7))),
}
ITEMS = {**PLAIN, "default_item": st.none() | VALUES, "holder": st.none() | st.integers(1, 3)}
OBJECTS = st.one_of(
    st.builds(ModuleObject, **PLAIN, frozen=st.booleans(), buffers=st.frozensets(st.sampled_from("xyz"))),
    st.builds(OpaqueObject, **PLAIN, constructed=st.booleans()),
    st.builds(LoaderObject, **PLAIN, pinned=st.none() | st.booleans(), batch_device=st.sampled_from((None, CPU))),
    st.builds(ListObject, **ITEMS),
    st.builds(DictObject, **ITEMS, odd_keys=st.booleans()),
)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_joins_of_any_objects_are_the_same_in_any_order_and_grow_with_the_paths(one, two, other):
    few, more = join_objects(one, other), join_objects(join_objects(one, two), other)

    assert few == join_objects(other, one)
    assert join_objects(few, few) == few
    assert join_objects(more, few) == more


@pytest.mark.parametrize(
    ("one", "two", "name", "expected"),
    [
        pytest.param(
            ModuleObject(devices=ON_CPU), ModuleObject(devices=ON_GPU), "devices", ON_CPU | ON_GPU, id="union"
        ),
        pytest.param(ModuleObject(weights=True), ModuleObject(), "weights", True, id="either"),
        pytest.param(ListObject(holder=3), ListObject(), "holder", 3, id="one-says-nothing"),
        pytest.param(ListObject(holder=3), ListObject(holder=4), "holder", 3, id="lowest"),
        pytest.param(LoaderObject(pinned=True), LoaderObject(pinned=False), "pinned", None, id="unknown"),
        pytest.param(
            LoaderObject(batch_device=CPU),
            LoaderObject(batch_device=ACCELERATOR),
            "batch_device",
            UNKNOWN_DEVICE,
            id="unknown-device",
        ),
        pytest.param(
            ListObject(fields={"0": Const(1)}), ListObject(), "fields", {"0": Const(1)}, id="item-of-one-path"
        ),
    ],
)
def test_each_fact_joins_in_its_way(one, two, name, expected):
    assert getattr(join_objects(one, two), name) == expected


def test_the_latest_move_remains():
    early, late = point(3), point(7)
    joined = join_objects(ModuleObject(last_moved_at=early), ModuleObject(last_moved_at=late))

    assert joined.last_moved_at is late


def test_of_two_kinds_only_what_every_object_has_remains_on_an_unknown_device():
    joined = join_objects(GeneratorObject("g", devices=ON_CPU), ListObject("g", fields={"0": Const(1)}))

    assert type(joined) is HeapObject
    assert (joined.name, joined.fields) == ("g", {"0": Const(1)})
    assert joined.devices == frozenset({UNKNOWN_DEVICE})


def test_an_object_that_one_path_treats_as_a_module_is_a_module():
    joined = join_objects(OpaqueObject("net", devices=frozenset({UNKNOWN_DEVICE})), ModuleObject("net", devices=ON_GPU))

    assert isinstance(joined, ModuleObject)
    assert joined.weights
    assert joined.is_opaque
    assert joined.devices == frozenset({UNKNOWN_DEVICE, ACCELERATOR})


# --- neutral operations ---------------------------------------------------------------------------------------------
@pytest.fixture
def interp():
    """An interpreter that only notes what escapes."""
    escaped: list[Value] = []
    return SimpleNamespace(escaped=escaped, escape=lambda values, depth=0: escaped.extend(values))


def subscript(text: str) -> ast.Subscript:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Subscript)
    return node


CALL = ast.parse("f(x)", mode="eval").body


def test_a_method_of_an_unknown_object_may_change_its_arguments(interp):
    value = Tensor(CPU)

    assert HeapObject().method(interp, POINTER, "fit", [value], {"y": Const(1)}, CALL) == UNKNOWN
    assert interp.escaped == [value, Const(1)]


def test_an_unknown_object_is_neither_iterable_nor_a_container_of_tensors(interp):
    obj = HeapObject(fields={"x": Tensor(CPU)})

    assert obj.elements(interp, POINTER) is None
    assert obj.element(interp, POINTER, CALL, frozenset()) is None
    assert obj.unpack(interp, POINTER, 2) == [UNKNOWN, UNKNOWN]
    assert obj.sample(interp, POINTER, CALL) == UNKNOWN
    assert obj.tensors() == []
    assert obj.moved(lambda value: value) is obj


def test_an_unknown_object_has_its_fields_and_any_method(interp):
    obj = HeapObject(fields={"x": Tensor(CPU)})

    assert obj.attribute(interp, POINTER, "x", CALL) == Tensor(CPU)
    assert obj.attribute(interp, POINTER, "fit", CALL) == Builtin(POINTER, "fit")


def test_items_of_an_unknown_object_are_its_fields(interp):
    obj = HeapObject(fields={"x": Tensor(CPU)})

    assert obj.item(interp, POINTER, "x", subscript("a['x']")) == Tensor(CPU)
    assert obj.item(interp, POINTER, None, subscript("a[1:]")) == POINTER
    assert obj.item(interp, POINTER, "y", subscript("a['y']")) != obj.item(interp, POINTER, "z", subscript("a['z']"))


def test_an_unknown_object_is_no_module_and_no_tensor():
    obj = HeapObject("sklearn.Scaler")

    assert obj.as_module(None) is None
    assert obj.is_a(UNKNOWN, "torch.Tensor") is False
    assert obj.is_a(UNKNOWN, "sklearn.Scaler") is True
    assert obj.is_a(UNKNOWN, "other.Class") is None


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        pytest.param(ListObject(), None, id="empty-list"),
        pytest.param(ListObject(fields={"0": Const(1)}), True, id="list"),
        pytest.param(DictObject(), None, id="dictionary"),
        pytest.param(OpaqueObject(), None, id="opaque"),
        pytest.param(ModuleObject(), True, id="module"),
        pytest.param(TrainerObject(), True, id="trainer"),
    ],
)
def test_the_truth_of_an_object(obj, expected):
    assert obj.truth() is expected


def test_an_object_is_looked_up_by_its_kind():
    heap = {1: ModuleObject(), 2: DatasetObject()}
    memory = SimpleNamespace(heap_object=lambda pointer: heap[pointer.id])

    assert module_at(memory, Pointer(1)) is heap[1]
    assert module_at(memory, Pointer(2)) is None
    assert module_at(memory, Const(1)) is None
    assert object_at(memory, Pointer(2), DatasetObject) is heap[2]
    assert isinstance(heap[1], Module)


# --- in programs ----------------------------------------------------------------------------------------------------
def test_code_that_cannot_be_read_may_move_what_a_list_holds(met):
    program = "x = torch.ones(3).cuda()\ny = [torch.ones(3)]\n{}x + y[0]\n"

    assert met(program.format("")) == ["x + y[0]"]
    assert met(program.format("import lib\nlib.to_device(y)\n")) == []


def test_an_instance_of_a_plain_class_is_no_tuple(met):
    program = """
    import data

    class Sample:
        def __init__(self, video):
            self.video = video

    sample = Sample(torch.ones(3))
    if isinstance(sample, tuple):
        sample = data.load()
    else:
        sample.video = sample.video.cuda()
    sample.video + torch.ones(3).cuda()
    """

    assert met(program) == []


OWN_HEAD = """
from library import load
model = load("name")
BEFORE
model.head = nn.Linear(3, 2)
AFTER
model(torch.ones(3).cuda())
"""


@pytest.mark.parametrize("head", ["nn.Linear(3, 2)", "nn.Linear(3, 2) if load('wide') else nn.Linear(3, 9)"])
@pytest.mark.parametrize("move", ["model.cuda()", "model = model.to('cuda')"])
def test_a_model_of_unknown_code_moves_the_head_that_it_got(met, move, head):
    program = OWN_HEAD.replace("nn.Linear(3, 2)", head)

    assert met(program.replace("BEFORE", "pass").replace("AFTER", move)) == []
    assert set(met(program.replace("BEFORE", move).replace("AFTER", "pass"))) == {"model(torch.ones(3).cuda())"}


LOADED = """
import pickle
def load(path):
    return pickle.load(open(path, "rb"))
def build(config, gpu):
    config.gpu = gpu
    net = nn.Linear(3, 3)
    if config.gpu:
        net = net.cuda()
    return net
net = build(load("config"), GPU)
net(torch.ones(3).cuda())
"""


@pytest.mark.parametrize(("gpu", "failing"), [("True", []), ("False", ["net(torch.ones(3).cuda())"])])
def test_what_a_library_returned_keeps_the_attributes_that_are_set(met, gpu, failing):
    assert met(LOADED.replace("GPU", gpu)) == failing


def test_tensors_that_are_set_on_one_name_of_an_unknown_object_may_be_moved_by_another(met):
    program = """
        import library
        one = library.load()[0]
        two = one
        one.x = torch.ones(3)
        two.x = two.x.cuda()
        nn.Linear(3, 3).cuda()(one.x)
        """

    assert met(program) == []


@pytest.mark.parametrize("read", ["part.made()", "part.value"])
def test_what_may_be_none_has_the_attributes_of_the_rest(met, read):
    program = f"""
    class Part:
        def __init__(self):
            self.value = torch.ones(3, device="cuda")

        def made(self):
            return self.value

    part = Part() if asked() else None
    x = {read}
    if isinstance(x, str):
        x = torch.ones(3)
    x + torch.ones(3, device="cuda")
    """

    assert met(program) == []
