"""Random numbers: each simulated device has a stream of its own, as CUDA's Philox is not the CPU's Mersenne Twister.

With ``shared_random`` the devices draw from the CPU's stream instead.  A program then gets the same dropout masks on
the simulated device as on the CPU, so that its losses can be compared bit for bit.

A stream is a CPU generator whose state is swapped in around the kernel that draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from . import errors
from .state import state
from .tags import canonical

__all__ = ["SimulatedGenerator", "check_generator", "draw_from", "generator_for", "generators", "seed_all"]

#: So that a device's numbers differ from the CPU's for the same seed.
_OFFSET = 0x5EED_0DEF_1CE5

_RealGenerator = torch._C.Generator


class _GeneratorType(type(_RealGenerator)):  # type: ignore[misc]  # a class of C has no name for its own
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _RealGenerator)


class SimulatedGenerator(_RealGenerator, metaclass=_GeneratorType):
    """``torch.Generator`` that also takes the name of a simulated device."""

    _tag: torch.device | None

    def __new__(cls, device: Any = "cpu") -> Any:
        tag = canonical(device)
        if tag is not None and tag.type != state.kind:
            return _RealGenerator(device)
        generator = super().__new__(cls)
        generator._tag = tag
        return generator

    def __init__(self, device: Any = "cpu") -> None:
        pass

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch: a variable
        """Where the generator draws."""
        return self._tag or torch.device("cpu")


_streams: dict[torch.device, SimulatedGenerator] = {}


def generator_for(device: torch.device) -> SimulatedGenerator:
    """The default generator of a simulated device."""
    found = _streams.get(device)
    if found is None:
        found = _streams[device] = SimulatedGenerator(device)
        found.manual_seed((torch.initial_seed() + _OFFSET) % 2**63)
    return found


def generators() -> tuple[SimulatedGenerator, ...]:
    """``torch.cuda.default_generators``."""
    return tuple(generator_for(device) for device in (canonical(index) for index in range(state.count)) if device)


def seed_all(seed: int) -> None:
    """``torch.cuda.manual_seed_all``."""
    for generator in generators():
        generator.manual_seed((int(seed) + _OFFSET) % 2**63)


def forget() -> None:
    """Drop all streams: a new simulation starts with fresh ones."""
    _streams.clear()


@contextmanager
def draw_from(device: torch.device, kwargs: Any) -> Iterator[None]:
    """Let the kernel inside draw from the device's stream, unless the call names a generator."""
    if kwargs and kwargs.get("generator") is not None:
        yield
        return
    stream, default = generator_for(device), torch.default_generator
    saved = default.get_state()
    default.set_state(_RealGenerator.get_state(stream))
    try:
        yield
    finally:
        _RealGenerator.set_state(stream, default.get_state())
        default.set_state(saved)


def check_generator(generator: Any, device: torch.device | None) -> None:
    """Raise if a generator of one device is asked for numbers on another."""
    if not state.checks:
        return
    found = generator.device.type
    expected = "cpu" if device is None else device.type
    if found != expected and expected in ("cpu", state.kind):
        raise errors.generator_mismatch(expected, found)
