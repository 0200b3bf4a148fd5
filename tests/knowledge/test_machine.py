"""Programs on the simulated accelerator: which placements fail, and which run."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from benchmarks.knowledge.examples import Example, moved  # noqa: E402  # needs torch
from benchmarks.knowledge.machine import End, confirmed, run  # noqa: E402  # needs torch
from devfix.simulator import Simulator  # noqa: E402  # needs torch

ADD = Example("torch", "torch.add", (moved("x", "torch.rand(3)"), moved("y", "torch.rand(3)")), "z = torch.add(x, y)")


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("x = torch.ones(3).cuda()\nx + x\n", End.RAN),
        ("x = torch.ones(3).cuda()\nx + torch.ones(3)\n", End.DEVICE_ERROR),
        ("x = torch.ones(3).cuda()\nx + torch.ones(3)\nx\n", End.OTHER),
        ("x = torch.ones(3).cuda()\nx + torch.ones(2).cuda()\n", End.OTHER),
        ("x = torch.rand(1)\nif x > 0.6:\n    raise ValueError\n", End.OTHER),
    ],
    ids=["runs", "device-error", "device-error-on-another-line", "another-error", "depends-on-chance"],
)
def test_a_program_ends(program: str, end: End) -> None:
    with Simulator():
        assert run(f"import torch\n{program}") is end


def test_an_example_is_confirmed_with_its_placements() -> None:
    (found,) = confirmed([[ADD]])
    assert found.repaired == frozenset()
    assert found.broken == (frozenset({1}), frozenset({0}))
    assert found.mixed == ()


def test_an_index_may_stay_on_the_cpu() -> None:
    index = (moved("x", "torch.rand(3)"), moved("i", "torch.tensor([0, 2])"))
    (found,) = confirmed([[ADD._replace(operands=index, statement="y = x[i]")]])
    assert found.broken == (frozenset({0}),)
    assert found.mixed == (frozenset({1}),)


def test_operands_of_the_cpu_stay_there_in_the_repaired_program() -> None:
    split = (moved("x", "torch.rand(6)"), moved("at", "torch.tensor([2, 4])"))
    (found,) = confirmed([[ADD._replace(operands=split, statement="y = torch.tensor_split(x, at)")]])
    assert found.repaired == frozenset({1})
    assert found.broken[0] == frozenset()


def test_the_first_example_that_fails_is_taken() -> None:
    wrong = ADD._replace(statement="z = torch.add(x)")
    copies = ADD._replace(statement="z = x.copy_(y)")
    (found,) = confirmed([[wrong, copies, ADD], [copies]])
    assert found.example == ADD
