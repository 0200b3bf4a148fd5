"""Paths on which the program has declined the accelerator: an option such as ``--cuda`` is off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.analysis.domain.state import State

__all__ = ["declines_accelerator"]

_WORD = re.compile(r"[a-z]+")
_ACCELERATOR = frozenset("cuda gpu".split())
_NEGATIONS = frozenset("no not disable without cpu".split())
_OTHER_QUESTIONS = frozenset(  # ``multi_gpu``, ``gpu_metrics``: not whether there is one
    "multi several many all parallel distributed num count n metrics memory stats benchmark deterministic pin sync "
    "graph graphs amp fp half profile log info verbose version".split()
)
_COMPARISON = re.compile(r"[=<>(]| is | in ")


def declines_accelerator(state: State) -> bool:
    """Return whether a condition of the path says that no accelerator is to be used: ``use_cuda`` is false there."""
    return any(_declines(key, holds) for key, holds in state.assumptions.items())


def _declines(key: str, holds: bool) -> bool:
    text = key.rpartition(":")[2]
    words = set(_WORD.findall(text.lower()))
    if words.isdisjoint(_ACCELERATOR) or not words.isdisjoint(_OTHER_QUESTIONS) or _COMPARISON.search(text):
        return False
    return holds is not words.isdisjoint(_NEGATIONS)
