"""Programs that keep modules on several accelerators: the halves of a model."""

from __future__ import annotations

import ast

from devfix.analysis import Facts
from devfix.analysis.domain.values import ACCELERATOR, OTHER, Place
from devfix.analysis.scenarios import device_words, literal

__all__ = ["in_halves"]


def in_halves(facts: Facts) -> bool:
    """Whether modules live on two accelerators when values of both meet; not so where one line says another device."""
    two = facts.two
    if two is None or two.distributed or _one_index_for_modules(facts, two):
        return False
    if _sent_apart(two):
        return True
    homes: set[Place] = set()
    for meeting in two.meetings:
        memory = meeting.site.memory
        records = [] if memory is None else [record for _, record in memory.records()]
        for record in records:
            if record.kind == "module" and record.weights and len(record.places) == 1:
                homes |= record.places
        if homes >= {ACCELERATOR, OTHER}:
            return True
    return False


def _one_index_for_modules(facts: Facts, two: Facts) -> bool:
    """Whether a program that chooses its device sends modules to ``cuda:1`` by name, and never a tensor.

    Who means to work on two accelerators hands something over: here a line disagrees with the rest.
    """
    if facts.foreign_index is None:
        return False
    sent = [places[OTHER] for places in two.placings.values() if OTHER in places]
    named = [(placing, device_words(placing.call)) for placing in sent]
    return bool(named) and all(
        placing.came is None and words is not None and literal(words) == facts.foreign_index for placing, words in named
    )


def _sent_apart(two: Facts) -> bool:
    """Whether modules are sent to two accelerators, each by its own name."""
    named = {
        place
        for call, places in two.placings.items()
        for place, placing in places.items()
        if placing.came is None and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda")
        if call.args or call.keywords
    }
    return named >= {ACCELERATOR, OTHER}
