"""Paths on which the program has declined the accelerator: an option such as ``--cuda`` is off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from devfix.models.flags import ACCELERATOR_WORDS, DECLINING_WORDS, OTHER_WORDS

if TYPE_CHECKING:
    from devfix.analysis.domain.state import State

__all__ = ["declines_accelerator"]

_WORD = re.compile(r"[a-z]+")
_COMPARISON = re.compile(r"[=<>(]| is | in ")


def declines_accelerator(state: State) -> bool:
    """Return whether a condition of the path says that no accelerator is to be used: ``use_cuda`` is false there."""
    return any(_declines(key, holds) for key, holds in state.assumptions.items())


def _declines(key: str, holds: bool) -> bool:
    text = key.rpartition(":")[2]
    words = set(_WORD.findall(text.lower()))
    if words.isdisjoint(ACCELERATOR_WORDS) or not words.isdisjoint(OTHER_WORDS) or _COMPARISON.search(text):
        return False
    return holds is not words.isdisjoint(DECLINING_WORDS)
