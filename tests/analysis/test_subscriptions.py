"""Subscriptions: what reaches a handler, and what becomes of the value that it returns."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from devfix import analysis
from devfix.analysis.domain.values import UNKNOWN
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import FunctionCalled, MethodCalled

PATH = "/p/train.py"
IMPORT = "import torch\n"


@dataclass(frozen=True)
class Called:
    name: str


@pytest.fixture
def follow():
    """The observations of a program that is interpreted with subscriptions."""

    def call(text, *subscriptions):
        files = {PATH: IMPORT + text}
        observations = analysis.analyse(PATH, files.get, "/p", subscriptions=subscriptions)
        assert observations is not None
        return observations

    return call


def note(interp, observation):
    interp.observations.record(Called(observation.name))


def forget(interp, observation):
    return UNKNOWN


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        pytest.param("torch.ones(3)", FunctionCalled, ["torch.ones"], id="function"),
        pytest.param("torch.nn.Linear(3, 2)", FunctionCalled, ["torch.nn.Linear"], id="class"),
        pytest.param("print(len(''))", FunctionCalled, ["builtins.len", "builtins.print"], id="inner-call-first"),
        pytest.param("torch.ones(3).cuda()", MethodCalled, ["cuda"], id="method"),
        pytest.param("def f():\n    torch.ones(3)\n", FunctionCalled, [], id="function-that-is-not-called"),
        pytest.param("def f():\n    pass\nf()\n", FunctionCalled, [], id="function-of-the-project"),
    ],
)
def test_a_handler_sees_the_observations_of_its_type(follow, text, kind, names):
    observations = follow(text, Subscription(kind, note))

    assert [record.name for record in observations.of(Called)] == names


def test_the_value_that_a_handler_returns_is_that_of_the_program(follow):
    text = "x = torch.ones(3) + torch.ones(3, device='cuda')\n"

    assert len(follow(text).mismatches) == 1
    assert follow(text, Subscription(FunctionCalled, forget)).mismatches == []


def test_later_handlers_see_the_value_that_earlier_ones_leave(follow):
    seen = []

    def watch(interp, observation):
        seen.append(observation.value)

    follow("torch.ones(3)", Subscription(FunctionCalled, forget), Subscription(FunctionCalled, watch))

    assert seen == [UNKNOWN]


def test_a_subscription_that_rules_share_is_called_once(follow):
    seen = []

    def watch(interp, observation):
        seen.append(observation.name)

    shared = Subscription(FunctionCalled, watch)
    follow("torch.ones(3)", shared, shared)

    assert seen == ["torch.ones"]


def test_a_handler_runs_in_each_scenario(follow):
    text = """\
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(3).to(device)
y = torch.ones(3, device="cuda")
"""

    observations = follow(text, Subscription(MethodCalled, note))

    assert observations.no_accelerator is not None
    assert observations.of(Called) == observations.no_accelerator.of(Called) == [Called("to")]


def test_the_first_record_of_a_key_is_kept(follow):
    observations = follow("")

    first = observations.record(Called("a"), key=1)

    assert observations.record(Called("b"), key=1) is first
    assert observations.recorded(Called, 1) is first
    assert observations.recorded(Called, 2) is None
    assert observations.of(Called) == [Called("a")]


def test_equal_records_without_a_key_are_one(follow):
    observations = follow("")

    for name in ("a", "b", "a"):
        observations.record(Called(name))

    assert observations.of(Called) == [Called("a"), Called("b")]
