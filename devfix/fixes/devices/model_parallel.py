"""Programs that keep modules on several accelerators: the halves of a model."""

from __future__ import annotations

import ast

from devfix.analysis import Observations
from devfix.analysis.domain.values import ACCELERATOR, OTHER_ACCELERATOR, Device
from devfix.analysis.scenarios import device_words, literal

__all__ = ["in_halves"]


def in_halves(observations: Observations) -> bool:
    """Whether modules live on two accelerators when values of both meet; not so where one line says another device."""
    two = observations.multi_accelerator
    if two is None or two.distributed or _one_index_for_modules(observations, two):
        return False
    if _sent_apart(two):
        return True
    homes: set[Device] = set()
    for mismatch in two.mismatches:
        memory = mismatch.point.state
        objects = [] if memory is None else [obj for _, obj in memory.heap_objects()]
        for obj in objects:
            if obj.kind == "module" and obj.weights and len(obj.devices) == 1:
                homes |= obj.devices
        if homes >= {ACCELERATOR, OTHER_ACCELERATOR}:
            return True
    return False


def _one_index_for_modules(observations: Observations, two: Observations) -> bool:
    """Whether a program that chooses its device sends modules to ``cuda:1`` by name, and never a tensor.

    Who means to work on two accelerators hands something over: here a line disagrees with the rest.
    """
    if observations.foreign_index is None:
        return False
    sent = [devices[OTHER_ACCELERATOR] for devices in two.device_assignments.values() if OTHER_ACCELERATOR in devices]
    named = [(placing, device_words(placing.call)) for placing in sent]
    return bool(named) and all(
        placing.came is None and words is not None and literal(words) == observations.foreign_index
        for placing, words in named
    )


def _sent_apart(two: Observations) -> bool:
    """Whether modules are sent to two accelerators, each by its own name."""
    named = {
        device
        for call, devices in two.device_assignments.items()
        for device, placing in devices.items()
        if placing.came is None and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda")
        if call.args or call.keywords
    }
    return named >= {ACCELERATOR, OTHER_ACCELERATOR}
