"""Confirmation of examples on a simulated accelerator: which placements fail with a device error, and which run."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator
from enum import Enum

import torch

from benchmarks.knowledge.examples import Confirmed, Example, Placement
from devfix.simulator import Simulator
from devfix.verify.probe.messages import device_family

__all__ = ["End", "confirmed", "run"]

_FILE = "<example>"
_SEEDS = (0, 1)  # random operands must not decide


class End(Enum):
    """How a program ended: with success, with a device error on its last line, or in another way."""

    RAN = "ran"
    DEVICE_ERROR = "device error"
    OTHER = "other"


def confirmed(candidates: Iterable[Iterable[Example]]) -> Iterator[Confirmed]:
    """Yield the first confirmed example of each function."""
    with warnings.catch_warnings(), Simulator():
        warnings.simplefilter("ignore")
        for examples in candidates:
            found = next(filter(None, map(_confirm, examples)), None)
            if found is not None:
                yield found


def run(text: str) -> End:
    """Run a program on the simulated accelerator."""
    first, *others = _SEEDS
    end = _run(text, first)
    return end if end is End.OTHER or all(_run(text, seed) is end for seed in others) else End.OTHER


def _run(text: str, seed: int) -> End:
    torch.manual_seed(seed)
    try:
        exec(compile(text, _FILE, "exec"), {"__name__": "__main__"})
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
        is_last = lines[-1:] == [text.count("\n")]
        return End.DEVICE_ERROR if is_last and device_family(str(error)) else End.OTHER
    return End.RAN


def _confirm(example: Example) -> Confirmed | None:
    ends: dict[Placement, End] = {frozenset(): run(example.program())}
    if ends[frozenset()] is End.OTHER:
        return None
    ends |= {placement: run(example.program(placement)) for placement in example.candidates}
    repaired = next((placement for placement, end in ends.items() if end is End.RAN), None)
    broken = [placement for placement in example.candidates if ends[placement] is End.DEVICE_ERROR]
    if repaired is None or not broken:
        return None
    mixed = [placement for placement in example.candidates if ends[placement] is End.RAN]
    if repaired in mixed:
        broken = [*([frozenset()] if ends[frozenset()] is End.DEVICE_ERROR else []), *broken]
    return Confirmed(example, repaired, tuple(broken), tuple(mixed))
