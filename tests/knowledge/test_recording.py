"""Confirmed examples as text, and back."""

from __future__ import annotations

from pathlib import Path

from benchmarks.knowledge.examples import Confirmed, Example, Operand, moved
from benchmarks.knowledge.recording import dumps, loads

EXAMPLE = Example(
    "factories",
    "torch.zeros",
    (moved("data", "torch.rand(3)"), Operand("made", "torch.zeros(3)", 'torch.zeros(3, device="cuda")')),
    "result = data + made",
    imports=("import numpy as np",),
    setup=("n = 3",),
)


def test_an_example_is_the_same_after_it_was_written_and_read() -> None:
    found = [
        Confirmed(EXAMPLE, frozenset(), (frozenset({1}),), ()),
        Confirmed(EXAMPLE, frozenset({0}), (), (frozenset({0}),)),
    ]
    assert loads(dumps(found)) == found


def test_the_recorded_examples_are_as_they_would_be_written() -> None:
    text = (Path(__file__).parents[1] / "data/operations.jsonl").read_text(encoding="utf-8")
    assert dumps(loads(text)) == text
