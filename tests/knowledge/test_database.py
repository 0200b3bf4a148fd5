"""Functions are found in the operator database by the last part of their name."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from benchmarks.knowledge.database import entries, modules, samples  # needs torch


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("mm", "mm"),
        ("add_", "add"),
        ("linalg.solve", "linalg.solve"),
        ("multiply", "mul"),
        ("masked.sum", "masked.sum"),
    ],
)
def test_the_entry_of_the_whole_name_comes_first(name: str, first: str) -> None:
    assert entries(name)[0].name == first


def test_an_unknown_name_has_no_entry() -> None:
    assert entries("no_such_function") == []


def test_an_entry_has_samples() -> None:
    assert next(iter(samples(entries("mm")[0]))).input.dim() == 2


def test_modules_are_in_the_database() -> None:
    assert any(info.module_cls.__name__ == "Linear" for info in modules())
