"""The programs of an example, one for each placement of its operands."""

from __future__ import annotations

from benchmarks.knowledge.examples import Example, Operand, moved, placements

ADD = Example("torch", "torch.add", (moved("x", "torch.rand(3)"), moved("y", "torch.rand(3)")), "z = torch.add(x, y)")


def test_a_program_assigns_its_operands_then_calls() -> None:
    assert ADD.program({1}) == ("import torch\n\nx = torch.rand(3).cuda()\ny = torch.rand(3)\nz = torch.add(x, y)\n")


def test_imports_are_sorted_and_setup_stands_above_the_operands() -> None:
    example = ADD._replace(imports=("from torch import nn", "import numpy as np"), setup=("loss = nn.MSELoss()",))
    assert example.program().splitlines()[:6] == [
        "import numpy as np",
        "import torch",
        "from torch import nn",
        "",
        "loss = nn.MSELoss()",
        "x = torch.rand(3).cuda()",
    ]


def test_an_operand_may_be_made_on_the_accelerator() -> None:
    made = Operand("y", "torch.zeros(3)", 'torch.zeros(3, device="cuda")')
    assert 'y = torch.zeros(3, device="cuda")' in ADD._replace(operands=(ADD.operands[0], made)).program()


def test_placements_leave_one_operand_on_the_cpu_then_all_but_one() -> None:
    assert [set(each) for each in placements(3)] == [{1}, {2}, {0}, {0, 2}, {0, 1}, {1, 2}]
    assert [set(each) for each in placements(2)] == [{1}, {0}]
    assert list(placements(1)) == []


def test_an_example_may_name_the_placements_that_fail() -> None:
    assert ADD.candidates == (frozenset({1}), frozenset({0}))
    assert ADD._replace(broken=(frozenset({0}),)).candidates == (frozenset({0}),)
