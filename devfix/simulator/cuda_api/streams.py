"""Random numbers: each simulated device has its own generator, because CUDA's Philox differs from the CPU's engine.

With ``shared_random`` the devices draw from the CPU's generator instead.  A program then has the same dropout masks on
the simulated device as on the CPU, so its losses can be compared bit for bit.

A device's generator is a CPU generator whose state replaces the default one's while a random kernel runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .. import errors
from ..state import state
from ..tags import canonical

__all__ = ["SimulatedGenerator", "check_generator", "draw_from", "generator_for", "generators", "seed_all"]

#: Added to seeds, so that a device's numbers differ from the CPU's.
_OFFSET = 0x5EED_0DEF_1CE5

_OWN = (__package__, (__package__ or "").rpartition(".")[0])

_RealGenerator = torch._C.Generator


class _GeneratorType(type(_RealGenerator)):  # type: ignore[misc]  # the metaclass of a C class has no public name
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _RealGenerator)


class SimulatedGenerator(_RealGenerator, metaclass=_GeneratorType):
    """``torch.Generator`` that also accepts simulated devices."""

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

    def manual_seed(self, seed: int) -> Any:
        """Seed the generator; a device's numbers differ from the CPU's of the same seed."""
        super().manual_seed(seed)  # it refuses what is no integer: a number of NumPy
        self._seed = int(seed)
        if self is _generators.get(self._tag) and not _is_called_by_torch():  # type: ignore[arg-type]  # None is no key
            state.seedings += 1
        offset = _OFFSET if self._tag is not None and not state.shared_random else 0
        super().manual_seed((self._seed + offset) % 2**63)
        return self

    def initial_seed(self) -> int:
        """Return the seed."""
        return getattr(self, "_seed", None) or super().initial_seed()

    def clone_state(self) -> Any:
        """Return a copy on the same device."""
        other = SimulatedGenerator(self.device)
        other.set_state(self.get_state())
        return other

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch: a variable
        """The generator's device."""
        return self._tag or torch.device("cpu")


_generators: dict[torch.device, SimulatedGenerator] = {}


def _is_called_by_torch() -> bool:
    """Whether PyTorch seeds the devices, as in ``torch.manual_seed``, which seeds the CPU's generator as well."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__package__") in _OWN and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).startswith("torch.")


def generator_for(device: torch.device) -> SimulatedGenerator:
    """Return the default generator of a simulated device."""
    found = _generators.get(device)
    if found is None:
        found = SimulatedGenerator(device)
        found.manual_seed(torch.initial_seed())
        _generators[device] = found
    return found


def generators() -> tuple[SimulatedGenerator, ...]:
    """Return the value of ``torch.cuda.default_generators``."""
    return tuple(generator_for(device) for device in (canonical(index) for index in range(state.count)) if device)


def seed_all(seed: Any) -> None:
    """Seed the generators of all devices, as ``torch.cuda.manual_seed_all`` does."""
    for generator in generators():
        generator.manual_seed(int(seed))


def reset() -> None:
    """Drop all generators, for a new simulation."""
    _generators.clear()


@contextmanager
def draw_from(device: torch.device, kwargs: Any) -> Iterator[None]:
    """Make kernels inside the context draw from the device's generator, unless the call has one."""
    if kwargs and kwargs.get("generator") is not None:
        yield
        return
    generator, default = generator_for(device), torch.default_generator
    saved = default.get_state()
    default.set_state(_RealGenerator.get_state(generator))
    try:
        yield
    finally:
        _RealGenerator.set_state(generator, default.get_state())
        default.set_state(saved)


def check_generator(generator: Any, device: torch.device | None) -> None:
    """Raise RuntimeError if a generator is used for a tensor on another device."""
    if not state.checks:
        return
    found = generator.device.type
    expected = "cpu" if device is None else device.type
    if found != expected and expected in ("cpu", state.kind):
        raise errors.generator_mismatch(expected, found)
