"""The benchmark's mutation operators by example: what each plants, and into which correct program."""

from __future__ import annotations

import textwrap

import pytest

from benchmarks.repair.mutations import mutated
from benchmarks.repair.operators import OPERATORS
from devfix.syntax.tree import SourceTree

BY_NAME = {operator.name: operator for operator in OPERATORS}
PLANTED = [
    pytest.param(
        "state-before-move",
        """
        net = Net().to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        if resume:
            optimizer.load_state_dict(saved)
        """,
        """
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        if resume:
            optimizer.load_state_dict(saved)
        net.to(device)
        """,
        id="a-construction-is-moved-behind-the-resume",
    ),
    pytest.param(
        "moved-leaf",
        "w = torch.zeros(3, device=device, requires_grad=True)",
        "w = torch.zeros(3, requires_grad=True).to(device)",
        id="a-leaf-is-made-and-moved",
    ),
    pytest.param(
        "loss-weight",
        "scale = torch.ones(3, device=device)\nloss = nn.CrossEntropyLoss(weight=scale)",
        "scale = torch.ones(3)\nloss = nn.CrossEntropyLoss(weight=scale)",
        id="a-weight-by-name",
    ),
    pytest.param(
        "cpu-mask", "x = x.masked_fill(mask == 0, 0.0)", "x = x.masked_fill((mask == 0).cpu(), 0.0)", id="a-mask"
    ),
    pytest.param(
        "index-on-accelerator",
        "device = 'cuda'\norder = torch.randperm(9)\nrows = data[order[:3]]",
        "device = 'cuda'\norder = torch.randperm(9, device=device)\nrows = data[order[:3]]",
        id="a-slice-of-an-order-is-an-index",
    ),
]


def _planted(name: str, program: str) -> list[tuple[str, str]]:
    """Each mutant of a program with the correct program that it is held to."""
    text = "import torch\n" + textwrap.dedent(program).strip("\n") + "\n"
    found = BY_NAME[name].mutations(SourceTree("train.py", text))
    return [(mutated(text, one.basis), mutated(text, one.replacements)) for one in found]


@pytest.mark.parametrize(("name", "program", "planted"), PLANTED)
def test_one_bug_is_planted(name: str, program: str, planted: str) -> None:
    [(basis, mutant)] = _planted(name, program)

    assert mutant == "import torch\n" + textwrap.dedent(planted).strip("\n") + "\n"
    assert basis == "import torch\n" + textwrap.dedent(program).strip("\n") + "\n"


def test_a_bug_may_need_another_correct_program() -> None:
    [(basis, mutant)] = _planted("wrong-ids", "net = Net().to(device)")

    assert basis.splitlines()[-1] == "net = torch.nn.DataParallel(net, device_ids=[0])"
    assert mutant == basis.replace("[0]", "[1]")


def test_every_operator_has_a_name_and_a_title_of_its_own() -> None:
    assert len({operator.name for operator in OPERATORS}) == len({operator.title for operator in OPERATORS})
    assert len(BY_NAME) == len(OPERATORS) >= 20
    assert all(operator.title for operator in OPERATORS)
