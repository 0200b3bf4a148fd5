"""Files of two runs that belong together."""

from __future__ import annotations

from devfix.verify.outputs import File
from devfix.verify.outputs.pairing import pair_files, unstable_names


def files(*names: str) -> dict[str, File]:
    return {name: File("text", modified=number) for number, name in enumerate(names)}


def pairs(ours, theirs, unstable=()):
    return set(pair_files(files(*ours), files(*theirs), unstable))


def test_equal_names_belong_together_and_others_have_no_partner():
    assert pairs(["a.pt", "b.pt"], ["a.pt", "c.pt"]) == {("a.pt", "a.pt"), ("b.pt", None), (None, "c.pt")}


def test_names_with_times_are_paired_in_the_order_of_writing():
    ours, theirs = ["20261124-100000/a", "20261124-090000/a"], ["20251124-080000/a", "20251124-070000/a"]

    assert pairs(ours, theirs) == set(zip(ours, theirs, strict=True))


def test_a_result_in_a_name_is_no_identifier():
    assert pairs(["model_0.75.pt"], ["model_0.50.pt"]) == {("model_0.75.pt", None), (None, "model_0.50.pt")}


def test_names_that_a_repetition_does_not_reproduce_are_paired_by_folder_and_type():
    unstable = unstable_names(files("out/happy-panda.csv", "a.pt"), files("out/brave-otter.csv", "a.pt"))

    assert pairs(["out/calm-lion.csv", "b.pt"], ["out/happy-panda.csv", "a.pt"], unstable) == {
        ("out/calm-lion.csv", "out/happy-panda.csv"),
        ("b.pt", None),
        (None, "a.pt"),
    }
