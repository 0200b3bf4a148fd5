"""Calls of functions that a stub describes: one test for each word of the language."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import NumbersDrawn
from devfix.analysis.transfer.modelled_calls import _RESULTS
from devfix.models.index import built_in, using
from devfix.models.signatures import PARAMETER_WORDS, RESULT_WORDS
from devfix.models.stub_language import parse_stub

STUB = """
def on(*tensors: On) -> On: ...
def scalar(first: Scalar, second: Scalar) -> On: ...
def written(first: Written, second: Scalar) -> On: ...
def out(first: On, *, out: Out = ...) -> On: ...
def host(first: Host, second=...) -> Any: ...
def items(first: HostItems) -> Any: ...
def free(first, second: Any, third: Callable = ...) -> None: ...
def generator(first: On, *, generator: Generator = ...) -> On: ...

def integral(first: On, second: On = ...) -> Integral: ...
def vector(first: On, second: On = ...) -> Vector: ...
def number(first: On, second: On = ...) -> Number: ...
def reduced(first: On, dim=...) -> Reduced[dim]: ...
def fresh(size, device: Device = ...) -> Fresh[device]: ...
def fresh_default(size) -> Fresh[default]: ...
def fresh_cpu(size) -> Fresh[cpu]: ...
def fresh_accelerator(size) -> Fresh[accelerator]: ...
def like(first, device: Device = ...) -> Like[first]: ...
def of(first) -> Of[first]: ...
def on_cpu(first) -> OnCPU: ...
def same(first) -> Same[first]: ...
def copied(first) -> Copy[first]: ...
def calls(function: Callable, *args, again=..., **kwargs) -> Calls[function, args, kwargs]: ...
def calls_with(function: Callable, first, second) -> Calls[function, second]: ...
def maps(function, *iterables) -> Maps[function, iterables]: ...
def later(function, first) -> Future[Calls[function, first]]: ...
def array(first: Host) -> Array: ...
def escapes(first) -> Escapes: ...
def exits() -> Exits: ...
def module() -> Module: ...
def module_of(weights) -> Module[weights]: ...
def opened() -> Object[acme.File]: ...
def place() -> Device[accelerator]: ...
def index_of(tensor) -> Device[tensor]: ...
def waits(tensor) -> Needs[Same[tensor]]: ...
def literal() -> Literal[False]: ...
def pair(first: On, second: On) -> tuple[On, Integral]: ...
def several(first: On) -> list[On]: ...
def text() -> str: ...
def boolean() -> bool: ...
def integer() -> int: ...
def decimal() -> float: ...

class File:
    def read(self, first: Host) -> Any: ...
    def write(self, first: Any) -> Any: ...
    def mix(self, first: On, second: On) -> On: ...

class Archive(File):
    def opened() -> Object[acme.Archive]: ...

class Layer(Module):
    def __call__(self, first: On, second: Any = ...) -> tuple[On, list[On]]: ...
class Free(Module, weights=False): ...
class Criterion(Loss):
    def __init__(self, weight: Buffer = ...): ...
    def __call__(self, first: On, second: On) -> On: ...
class Rule(Optimizer, eager=True): ...
class Made:
    def __new__(cls, size) -> Fresh[accelerator]: ...
"""
SETUP = """
import acme
here = torch.ones(3, 3)
there = torch.ones(3, 3, device="cuda")
number = torch.tensor(2.0)
"""


@pytest.fixture(autouse=True)
def acme():
    """A library with a function for each word."""
    stubs = parse_stub(STUB, "acme", "acme.pyi")
    assert stubs.problems == []
    with using(built_in().extended(stubs, "acme")):
        yield


def mismatches(analyse, code):
    return [mismatch.operation for mismatch in analyse(SETUP + textwrap.dedent(code)).mismatches]


@pytest.mark.parametrize(
    ("call", "fails"),
    [
        ("acme.on(here, there)", True),
        ("acme.on(here, here)", False),
        ("acme.on([here, there])", True),
        ("acme.on(number, there)", True),
        ("acme.scalar(number, there)", False),
        ("acme.scalar(there, number)", False),
        ("acme.scalar(here, there)", True),
        ("acme.scalar(3, there)", False),
        ("acme.written(number, there)", True),
        ("acme.written(there, number)", False),
        ("acme.free(here, there)", False),
        ("acme.out(here, out=here)", False),
        ("acme.opened().mix(here, there)", True),
        ("acme.opened().mix(here, here)", False),
        ("acme.Archive.opened().mix(here, there)", True),
        ("acme.unknown(here, there)", False),
    ],
)
def test_operands_must_agree(analyse, call, fails):
    assert mismatches(analyse, call) == ([call.rpartition("(")[0].split(".")[-1]] if fails else [])


@pytest.mark.parametrize(
    ("function", "fails"),
    [
        ("f", True),
        ("lambda x: here + there", True),
        ("Job().run", True),
        ("Job()", True),
        ("functools.partial(f, 3)", True),
        ("f if unknown() else len", True),
        ("g", False),
        ("unknown", False),
        ("None", False),
        ("Job", False),
    ],
)
def test_a_function_is_called_that_a_library_calls(analyse, function, fails):
    program = f"""
        import functools
        from other import unknown

        def f(x):
            here + there
            raise ValueError

        def g(x):
            x + there

        class Job:
            def run(self, x, *, y):
                return here + there

            __call__ = run

        acme.free(1, 2, {function})
        number * there + here
    """

    assert len(mismatches(analyse, program)) == 1 + fails


def test_host_parameters_are_read_on_the_host(analyse):
    observations = analyse(
        SETUP
        + "acme.host(there)\nacme.host(here)\nacme.host(here, there)\nacme.host([there])\n"
        + "acme.items(there)\nacme.items([there])\nacme.opened().read(there)\nacme.opened().write(there)\n"
    )

    read = [access.point.tree.line(access.point.span.line) for access in observations.host_accesses.values()]
    assert read == ["acme.host(there)", "acme.host([there])", "acme.items([there])", "acme.opened().read(there)"]


def test_a_generator_draws_for_the_operands():
    given = "acme.generator(there, generator=torch.Generator())\nacme.generator(here, generator=torch.Generator())\n"
    wanted = []
    note = Subscription(NumbersDrawn, lambda interp, drawn: wanted.append(drawn.wanted.kind))
    analysis.analyse("/p/t.py", {"/p/t.py": f"import torch\n{SETUP}{given}"}.get, "/p", subscriptions=[note])

    assert wanted == ["accelerator", "cpu"]


PLACES = {
    "On": [("acme.on(there)", "accelerator"), ("acme.on(here, here)", "cpu")],
    "Out": [("acme.out(here, out=there)", "accelerator")],
    "Integral": [("acme.integral(there)", "accelerator")],
    "Vector": [("acme.vector(number)", "cpu"), ("acme.vector(number, number)", "cpu")],
    "Number": [("acme.number(there)", "accelerator"), ("acme.number(here)", "unknown")],
    "Reduced": [("acme.reduced(here, 0)", "cpu"), ("acme.reduced(here)", "unknown"), ("acme.on(number)", "unknown")],
    "Fresh": [
        ("acme.fresh(3)", "cpu"),
        ("acme.fresh(3, device='cuda')", "accelerator"),
        ("acme.fresh(3, 'cuda')", "accelerator"),
        ("acme.fresh_cpu(3)", "cpu"),
        ("acme.fresh_default(3)", "cpu"),
        ("acme.fresh_accelerator(3)", "accelerator"),
        ("acme.Made(3)", "accelerator"),
    ],
    "Like": [("acme.like(there)", "accelerator"), ("acme.like(there, device='cpu')", "cpu")],
    "Of": [("acme.of(there)", "accelerator"), ("acme.of([there])", "accelerator"), ("acme.of(3)", "unknown")],
    "OnCPU": [("acme.on_cpu(there)", "cpu")],
    "Same": [("acme.same(there)", "accelerator"), ("acme.same({'x': there})['x']", "accelerator")],
    "Copy": [("acme.copied(there)", "accelerator")],
    "Calls": [
        ("acme.calls(torch.zeros_like, there)", "accelerator"),
        ("acme.calls(torch.zeros_like, there, again=True, device='cpu')", "cpu"),
        ("acme.calls(lambda first, second: first, here, second=there)", "cpu"),
        ("acme.calls(acme.Layer(3), here)[0]", "cpu"),
        ("acme.calls_with(lambda first: first, here, there)", "accelerator"),
        ("acme.calls(3, there)", "unknown"),
    ],
    "Maps": [
        ("next(acme.maps(torch.zeros_like, [there]))", "accelerator"),
        ("next(acme.maps(lambda first, second: second, [there], [here]))", "cpu"),
        ("acme.maps(3, [there])", "unknown"),
    ],
    "Future": [
        ("acme.later(torch.zeros_like, there).result()", "accelerator"),
        ("acme.later(lambda first: first, here).get()", "cpu"),
        ("acme.later(torch.zeros_like, there).wait()", "unknown"),
    ],
    "Array": [("torch.tensor(acme.array(here))", "unknown")],
    "Any": [("acme.host(here)", "unknown")],
    "Escapes": [("acme.escapes(there)", "unknown")],
    "Module": [
        ("acme.module().to('cuda')(there)", "accelerator"),
        ("acme.module_of(there)(there)", "accelerator"),
        ("acme.module_of(here)(here)", "cpu"),
        ("acme.module_of(3)(there)", "accelerator"),
    ],
    "Object": [("acme.opened()", "unknown")],
    "Device": [
        ("here.to(acme.place())", "accelerator"),
        ("here.to(acme.index_of(there))", "accelerator"),
        ("there if acme.index_of(there) >= 0 and acme.index_of(there) != -1 else here", "accelerator"),
        ("there if acme.index_of(here) >= 0 or acme.index_of(here) != -1 else here", "cpu"),
    ],
    "Needs": [("acme.waits(there)", "accelerator")],
    "Literal": [("here if acme.literal() else there", "accelerator")],
    "tuple": [("acme.pair(here, here)[1]", "cpu"), ("acme.pair(there, there)[0]", "accelerator")],
    "list": [("acme.several(there)[0]", "accelerator"), ("[*acme.several(there)][0]", "accelerator")],
    "None": [("there if acme.free(1, 2) is None else here", "accelerator")],
    "bool": [("there if acme.boolean() else there", "accelerator")],
    "float": [("torch.tensor(acme.decimal())", "unknown")],
    "int": [("torch.tensor(acme.integer())", "unknown")],
    "str": [("here.to(acme.text())", "unknown")],
    "Exits": [],
    "Overlay": [],
}


@pytest.mark.parametrize(
    ("expression", "expected"), [pytest.param(*pair, id=pair[0]) for pairs in PLACES.values() for pair in pairs]
)
def test_where_a_result_is(place, expression, expected):
    assert place(SETUP, expression) == expected


def test_every_word_is_in_these_tests():
    assert set(RESULT_WORDS) <= set(PLACES)
    assert set(RESULT_WORDS) == {*_RESULTS, "Overlay"}
    plain = ("int", "float", "bool", "str", "None")  # test_bound_call.py has these
    assert [word for word in PARAMETER_WORDS if word not in plain and f": {word}" not in STUB] == []


def test_a_path_ends_where_a_function_exits(analyse):
    code = "import sys\nx = here\nif len(sys.argv) > 1:\n    x = there\n    acme.exits()\nx + there\nx + here\n"

    assert [mismatch.point.tree.line(mismatch.point.span.line) for mismatch in analyse(SETUP + code).mismatches] == [
        "x + there"
    ]


def test_a_layer_compares_its_weights_with_its_operands(analyse):
    code = "layer = acme.Layer(3).cuda()\nlayer(there, here)\nlayer(here)\nacme.Free(3)(here)\nout, more = layer(there)"

    assert mismatches(analyse, code) == ["layer"]
    assert mismatches(analyse, f"{code}\nmore[0] + here") == ["layer", "operator"]


def test_the_weights_of_a_loss_are_buffers(analyse):
    assert mismatches(analyse, "loss = acme.Criterion(weight=torch.ones(3))\nloss(there, there)") == ["loss"]
    assert mismatches(analyse, "loss = acme.Criterion(weight=torch.ones(3)).cuda()\nloss(there, there)") == []
    assert mismatches(analyse, "acme.Criterion()(there, here)") == ["acme.Criterion()"]


def test_an_optimizer_that_creates_its_state_at_once(analyse):
    code = "layer = acme.Layer(3)\nrule = acme.Rule(layer.parameters())\nlayer.cuda()\nrule.step()"

    assert len(analyse(SETUP + code).hazards) == 1


def test_a_function_that_is_called_has_its_own_checks(analyse):
    assert mismatches(analyse, "acme.calls(torch.add, here, other=there)") == ["add"]
    assert mismatches(analyse, "acme.calls(lambda first, second: first, here, there)") == []


def test_the_default_device_is_that_of_the_path(analyse):
    setup = "torch.set_default_device('cuda')\nthere.add_(acme.fresh_default(3))"

    assert mismatches(analyse, setup) == []
    assert mismatches(analyse, setup.replace("default(", "cpu(")) == [".add_()"]


def test_what_fits_no_signature_is_unknown(place):
    assert place(SETUP, "acme.reduced(there, 0, 1, 2)") == "unknown"


@pytest.mark.parametrize(
    "call",
    [
        "y.add_(1 - m, x)",
        "y.add(0.5, x)",
        "y.mul_(m).sub_(0.5, x)",
        "y.addcmul_(0.5, y, x)",
        "y.addcdiv_(0.5, x, y)",
        "y.addcdiv(-1, y, x)",
    ],
)
def test_a_factor_in_front_hides_no_tensor(call):
    program = f"import torch\n\nm = 0.9\nx = torch.ones(3)\ny = torch.ones(3).cuda()\n{call}\n"
    observations = analysis.analyse("/p/train.py", {"/p/train.py": program}.get, "/p")

    assert observations is not None
    assert [mismatch.point.span.line for mismatch in observations.mismatches] == [6]
