"""Every trial fits its program: its edits apply, and what they make is Python."""

import ast
import json

import pytest

from benchmarks.trials.catalogue import NEVER_ACCEPTABLE, Edit, programs

ALL = [(program, trial) for program in programs() for trial in program.trials]


def sources(folder):
    for path in sorted(folder.rglob("*.py")):
        yield path.read_text(encoding="utf-8")
    for path in sorted(folder.rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize(("program", "trial"), ALL, ids=[f"{program.name}: {trial.name}" for program, trial in ALL])
def test_a_patch_applies_and_compiles(program, trial, tmp_path):
    program.write_patched(tmp_path / "patched", trial)
    program.write_original(tmp_path / "original")
    patched, original = list(sources(tmp_path / "patched")), list(sources(tmp_path / "original"))
    for text in patched:
        ast.parse(text)
    assert patched != original or trial.edits[-1].file.endswith(".yaml")


def test_no_wrong_patch_may_be_accepted():
    assert all(NEVER_ACCEPTABLE.isdisjoint(trial.acceptable) for _, trial in ALL if trial.kind == "wrong")


@pytest.mark.parametrize("program", list(programs()), ids=lambda program: program.name)
def test_wrong_patches_start_from_a_right_repair(program):
    assert program.repair in [trial.edits for trial in program.trials if trial.kind == "right"]


def test_names_are_unique_within_a_program():
    names = [(program.name, trial.kind, trial.name) for program, trial in ALL]
    assert len(names) == len(set(names))


def test_words_choose_trials_by_program_or_name():
    assert {program.name for program in programs(["gan: "])} == {"gan"}
    assert all("weight decay" in trial.name for program in programs(["weight decay"]) for trial in program.trials)


def test_an_edit_that_fits_twice_is_refused():
    with pytest.raises(ValueError, match="occurs 2 times"):
        Edit("a.py", "x", "y").apply("x = x")
