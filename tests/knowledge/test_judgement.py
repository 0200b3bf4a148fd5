"""A function is known if its broken program is reported where it fails, and nothing in the repaired one."""

from __future__ import annotations

import pytest

from benchmarks.knowledge.examples import Confirmed, Example, moved
from benchmarks.knowledge.judgement import judge

BOTH = (moved("x", "torch.rand(3)"), moved("y", "torch.rand(3)"))
ADD = Example("operators", "+", BOTH, "z = x + y")
UNKNOWN = ADD._replace(name="mine", statement="z = torch.no_such_function(x, y)")
EVERYWHERE, ON_CPU = frozenset(), frozenset({1})


def test_a_known_function_an_unknown_one_and_a_false_finding(tmp_path) -> None:
    examples = [
        Confirmed(ADD, EVERYWHERE, (ON_CPU, frozenset({0})), ()),
        Confirmed(UNKNOWN, EVERYWHERE, (ON_CPU,), ()),
        Confirmed(ADD, ON_CPU, (ON_CPU,), (ON_CPU,)),
    ]
    known, unknown, false = judge(examples, tmp_path / "programs")
    assert known.known and known.reported == (True, True) and known.mixed == ()
    assert not unknown.known and unknown.reported == (False,)
    assert not false.known and false.repaired and false.mixed
    assert known.as_dict()["broken"] == ADD.program(ON_CPU)
    assert (tmp_path / "programs/p0000_operator_repaired_0.py").read_text() == ADD.program()


def test_programs_are_kept_in_a_new_folder_only(tmp_path) -> None:
    with pytest.raises(FileExistsError):
        judge([], tmp_path)
